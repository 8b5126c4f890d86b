//! The names of a library: what begins with `dagaz_` begins with the library's name instead, and what is inside of it, with
//! `dz_` in front, has the library's name before that.

/// What names begin with, without the underscore: the library's name as an identifier of C.
pub(super) fn of_library(name: &str) -> String {
    let mut prefix: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if !prefix.starts_with(|c: char| c.is_ascii_alphabetic()) {
        prefix.insert_str(0, "lib");
    }
    prefix
}

/// C text with the prefix in all names, but not in strings.
pub(super) fn renamed(text: &str, prefix: &str) -> String {
    let upper = prefix.to_ascii_uppercase();
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut is_inside = false;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '\'' if rest.starts_with("'\"'") => "'\"'".len(),
            '"' => string_length(rest),
            _ => c.len_utf8(),
        };
        if !is_inside && let Some(name) = rest.strip_prefix("dagaz_") {
            out += &format!("{prefix}_");
            (rest, is_inside) = (name, true);
            continue;
        }
        if !is_inside && rest.starts_with("dz_") {
            out += &format!("{prefix}_dz_");
            (rest, is_inside) = (&rest["dz_".len()..], true);
            continue;
        }
        if !is_inside && let Some(name) = rest.strip_prefix("DAGAZ_") {
            out += &format!("{upper}_");
            (rest, is_inside) = (name, true);
            continue;
        }
        out.push_str(&rest[..length]);
        rest = &rest[length..];
        is_inside = c.is_ascii_alphanumeric() || c == '_';
    }
    out
}

/// How long the string or character at the start of the text is, with its quotes.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (i, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' | '\n' => return i + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::{of_library, renamed};

    #[test]
    fn names_but_not_strings() {
        let text =
            "dagaz_context *x = f(\"dagaz_a \\\" dagaz_b\", DAGAZ_OK, my_dagaz_c, '\"', dagaz_d, dz_e);";
        let expected =
            "sums_context *x = f(\"dagaz_a \\\" dagaz_b\", SUMS_OK, my_dagaz_c, '\"', sums_d, sums_dz_e);";
        assert_eq!(renamed(text, "sums"), expected);
    }

    #[test]
    fn names_of_libraries() {
        assert_eq!(of_library("sums"), "sums");
        assert_eq!(of_library("3d-sums.v2"), "lib3d_sums_v2");
    }
}
