//! The newcomer's route, `docs/route.md`: one program through every stage of the compiler.
//!
//! A block on the page is marked with the stage that it shows, as in `text core`, and holds what that stage makes of
//! the first block. `UPDATE_EXPECT=1 cargo test -p dagaz --test route` writes all of them anew.

use std::path::Path;

use dagaz::session::show_results;
use dagaz::{SourceMap, check_source, compile_source, data};
use dagaz_core::print::print_without_locs;

const FILE: &str = "sum_of_squares.fut";
const ARGUMENT: &[u8] = b"[1.0, 2.0, 3.0]";

/// What a stage makes of the program.
fn shown(stage: &str, source: &str) -> Option<String> {
    Some(match stage {
        "futhark source" => source.to_owned(),
        "text tree" => {
            let file = SourceMap::default().add(FILE, source);
            dagaz_syntax::dump::dump_program(&dagaz_syntax::parse_program(file, source).0)
        }
        "text types" => {
            let checked = check_source(FILE, source).expect("a program that passes the checker");
            checked.signatures.iter().map(|(name, ty)| format!("val {name} {ty}\n")).collect()
        }
        "text core" => {
            print_without_locs(compile_source(FILE, source).expect("a program that compiles").core())
        }
        "text gradient" => {
            let with_gradient = source.replace("entry", "def")
                + "entry gradient [n] (xs: [n]f64) : [n]f64 = vjp sum_of_squares xs 1\n";
            let program = compile_source(FILE, &with_gradient).expect("a program that compiles");
            print_without_locs(program.core())
        }
        "text c" => {
            let program = compile_source(FILE, source).expect("a program that compiles");
            dagaz_codegen::generate_body(program.core()).expect("a program that becomes C")
        }
        "text result" => called(source).0,
        "text cost" => called(source).1,
        _ => return None,
    })
}

/// The result of the entry point, and what it cost.
fn called(source: &str) -> (String, String) {
    let program = compile_source(FILE, source).expect("a program that compiles");
    let entry = &program.entry_points()[0];
    let mut session = program.session();
    let args = data::read_values(ARGUMENT).expect("values");
    let results = session.call(&entry.name, args).expect("a result");
    let cost = session.counters();
    let costs = format!("work {}\nspan {}\npeak {}\n", cost.work, cost.span, cost.peak_elements);
    (show_results(entry, &results).join("\n") + "\n", costs)
}

#[test]
fn every_stage_is_as_the_page_shows_it() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/route.md");
    let text = std::fs::read_to_string(&page).expect("the page");
    let (_, rest) = text.split_once("```futhark source\n").expect("the program on the page");
    let (source, _) = rest.split_once("```\n").expect("the end of the program");
    let mut stages = Vec::new();
    let mut out = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        let stage = line.strip_prefix("```").unwrap_or("");
        if let Some(content) = shown(stage, source) {
            lines.by_ref().take_while(|line| *line != "```").for_each(drop);
            out.push_str(&content);
            out.push_str("```\n");
            stages.push(stage);
        }
    }
    let all = [
        "futhark source",
        "text tree",
        "text types",
        "text core",
        "text gradient",
        "text c",
        "text result",
        "text cost",
    ];
    assert_eq!(stages, all, "the stages in the order of the compiler");
    expect_test::expect_file![page].assert_eq(&out);
}
