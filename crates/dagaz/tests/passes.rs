//! `docs/passes.md` lists all passes and pipelines.

use std::fmt::Write as _;

use dagaz::pipelines::{PIPELINES, passes};
use dagaz_core::pass::{Leaves, Pass, Step};

/// The stage that a pass expects, and what it changes of it.
fn stages(pass: &Pass) -> String {
    let leaves = match pass.leaves {
        Leaves::Values => "",
        Leaves::NoForms => "; leaves no forms",
        Leaves::Consumed => "; leaves arrays consumed",
    };
    format!("{}{leaves}", pass.expects)
}

fn list(page: &mut String, steps: &[Step], depth: usize) {
    let indent = "  ".repeat(depth);
    for step in steps {
        match step {
            Step::Pass(pass) => drop(writeln!(page, "{indent}{}", pass.name)),
            Step::All(steps) => list(page, steps, depth),
            Step::IfChanged(steps, then) => {
                let _ = writeln!(page, "{indent}if there is something to do");
                list(page, steps, depth + 1);
                let _ = writeln!(page, "{indent}then");
                list(page, then, depth + 1);
            }
            Step::UntilStable(at_most, steps) => {
                let _ = writeln!(page, "{indent}until nothing changes, and {at_most} times at most");
                list(page, steps, depth + 1);
            }
        }
    }
}

#[test]
fn the_page_is_up_to_date() {
    let mut page = String::from(
        "# Passes\n\nThis page is made from the passes themselves. `dagaz dev` runs them one by one: see [tools.md](tools.md#dev).\n\n\
         | pass | what it does | expects |\n|---|---|---|\n",
    );
    for pass in passes() {
        let _ = writeln!(page, "| `{}` | {} | {} |", pass.name, pass.about, stages(pass));
    }
    for pipeline in PIPELINES {
        let _ = write!(page, "\n## The pipeline `{}`\n\nFor {}.\n\n```text\n", pipeline.name, pipeline.about);
        list(&mut page, pipeline.steps, 0);
        page.push_str("```\n");
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/passes.md");
    expect_test::expect_file![path].assert_eq(&page);
}
