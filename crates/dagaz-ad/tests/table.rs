//! The page on scalar derivatives is the one that the rules give.

use expect_test::expect_file;

#[test]
fn the_page_is_up_to_date() {
    expect_file!["../../../docs/derivatives.md"].assert_eq(&dagaz_ad::derivatives_page());
}
