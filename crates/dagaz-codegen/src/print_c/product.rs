//! Products of matrices as calls of their kernels.

use crate::imp::{Expr, Product, Side};

use super::expr::{print, site};

pub(super) fn call(product: &Product) -> String {
    let list = |parts: &[Expr]| parts.iter().map(print).collect::<Vec<_>>().join(", ");
    let strides: Vec<String> =
        product.strides.iter().map(|strides| format!("{{{}}}", list(strides))).collect();
    let sizes = list(&product.sizes);
    let mut operands = vec![format!("(dz_product){{{sizes}, {}, {}}}", strides.join(", "), product.adds)];
    let mut kernel = "dz_product";
    if let Some(bounds) = &product.triangle {
        kernel = "dz_triangle_product";
        let mut fields = vec![
            format!(".row_period = {}", print(&bounds.row_period)),
            format!(".column_period = {}", print(&bounds.column_period)),
        ];
        let bound = |(low, high): &(Side, Side)| format!(".{}_to_{} = true", name(*low), name(*high));
        fields.extend(bounds.bounds.iter().map(bound));
        fields.extend(bounds.is_far.then(|| ".is_far = true".to_string()));
        operands.push(format!("(dz_triangle){{{}}}", fields.join(", ")));
    }
    operands.push(list(&product.operands));
    let (elem, operands) = (product.elem, operands.join(", "));
    match &product.copy {
        None => format!("{kernel}_{elem}(ctx, {operands});"),
        Some((copy, told)) => {
            format!("if ({kernel}_with_copy_{elem}(ctx, {}, {operands}, &{copy})) return 1;", site(*told))
        }
    }
}

fn name(side: Side) -> &'static str {
    match side {
        Side::Row => "row",
        Side::Column => "column",
        Side::Depth => "depth",
    }
}
