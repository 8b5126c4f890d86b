//! The functions of a library: for array types, for records and other types, and for entry points.

use std::fmt::Write as _;

use dagaz_core::exp::{Entry, EntryType, Program};
use dagaz_core::prim::PrimType;
use dagaz_core::types::Type;

use super::names::{Names, OpaqueType, array_name, c_scalar, identifier, parameter_names};
use crate::scalar::type_code;

/// What a value of an entry point is in C.
enum Shape<'t> {
    Scalar(PrimType),
    Array,
    Opaque(&'t OpaqueType),
}

fn shape<'t>(names: &'t Names, ty: &EntryType) -> Result<Shape<'t>, String> {
    let unknown = || format!("internal error: the type {} has no name in C", ty.name());
    match ty {
        EntryType::Value { ty: Type::Prim(prim), .. } => Ok(Shape::Scalar(*prim)),
        EntryType::Value { ty: Type::Array { .. }, .. } => Ok(Shape::Array),
        EntryType::Value { ty: Type::Acc { .. }, .. } => Err(unknown()),
        EntryType::Opaque { .. } => names.opaque(ty).map(Shape::Opaque).ok_or_else(unknown),
    }
}

/// A parameter that goes in.
fn input(names: &Names, ty: &EntryType, name: &str) -> Result<String, String> {
    let c_type = names.c_type(ty);
    Ok(match shape(names, ty)? {
        Shape::Scalar(_) => format!("{c_type} {name}"),
        Shape::Array | Shape::Opaque(_) => format!("const {c_type} *{name}"),
    })
}

/// A pointer to what comes out.
fn output(names: &Names, ty: &EntryType, name: &str) -> Result<String, String> {
    let c_type = names.c_type(ty);
    Ok(match shape(names, ty)? {
        Shape::Scalar(_) => format!("{c_type} *{name}"),
        Shape::Array | Shape::Opaque(_) => format!("{c_type} **{name}"),
    })
}

/// A function's head.
fn head(result: &str, name: &str, params: &[String]) -> String {
    let space = if result.ends_with('*') { "" } else { " " };
    format!("{result}{space}{name}({})", params.join(", "))
}

/// Everything that the header says about this program.
pub(super) fn declarations(program: &Program, names: &Names) -> Result<String, String> {
    let mut text = String::new();
    for (elem, rank) in &names.arrays {
        let name = array_name(*elem, *rank);
        let bits = if *elem == PrimType::F16 { ", as bits" } else { "" };
        let _ = writeln!(
            text,
            "/* An array of {elem}{bits}, {rank}-dimensional, in row-major order. `new` copies the elements, and gives\n   \
             NULL after an error; `values` copies them out; `data` and `shape` point into the array itself. */\n\
             typedef struct {name} {name};"
        );
        for head in array_heads(*elem, *rank) {
            let _ = writeln!(text, "{head};");
        }
        text.push('\n');
    }
    for opaque in &names.opaques {
        let name = &opaque.c_name;
        let _ = writeln!(
            text,
            "/* {} */\ntypedef struct {name} {name};",
            opaque.source_name.replace("*/", "* /")
        );
        for head in opaque_heads(names, opaque)? {
            let _ = writeln!(text, "{head};");
        }
        text.push('\n');
    }
    text.push_str("/* Entry points. Arguments stay the caller's; results are the caller's to free. */\n");
    for entry in &program.entries {
        let _ = writeln!(text, "{};", entry_head(names, entry)?);
    }
    Ok(text)
}

fn array_heads(elem: PrimType, rank: usize) -> [String; 5] {
    let (name, scalar) = (array_name(elem, rank), c_scalar(elem));
    let ctx = || "dagaz_context *ctx".to_string();
    let array = format!("const {name} *array");
    let mut sizes = vec![ctx(), format!("const {scalar} *data")];
    sizes.extend((0..rank).map(|i| format!("int64_t dim{i}")));
    [
        head(&format!("{name} *"), &format!("{name}_new"), &sizes),
        head("void", &format!("{name}_free"), &[ctx(), format!("{name} *array")]),
        head("int", &format!("{name}_values"), &[ctx(), array.clone(), format!("{scalar} *out")]),
        head(&format!("const {scalar} *"), &format!("{name}_data"), &[ctx(), array.clone()]),
        head("const int64_t *", &format!("{name}_shape"), &[ctx(), array]),
    ]
}

fn opaque_heads(names: &Names, opaque: &OpaqueType) -> Result<Vec<String>, String> {
    let name = &opaque.c_name;
    let ctx = "dagaz_context *ctx".to_string();
    let mut heads = vec![head("void", &format!("{name}_free"), &[ctx.clone(), format!("{name} *value")])];
    let Some(fields) = &opaque.fields else { return Ok(heads) };
    let mut params = vec![ctx.clone(), format!("{name} **out")];
    for ((_, ty), field) in fields.iter().zip(field_names(fields)) {
        params.push(input(names, ty, &field)?);
    }
    heads.push(head("int", &format!("{name}_new"), &params));
    for (field, ty) in fields {
        let params = [ctx.clone(), output(names, ty, "out")?, format!("const {name} *value")];
        heads.push(head("int", &format!("{name}_get_{}", identifier(field)), &params));
    }
    Ok(heads)
}

fn field_names(fields: &[(String, EntryType)]) -> Vec<String> {
    parameter_names(fields.iter().map(|(name, _)| name.as_str()))
}

fn entry_head(names: &Names, entry: &Entry) -> Result<String, String> {
    let mut params = vec!["dagaz_context *ctx".to_string()];
    for (ty, name) in entry.results.iter().zip(output_names(entry)) {
        params.push(output(names, ty, &name)?);
    }
    for (param, name) in entry.params.iter().zip(input_names(entry)) {
        params.push(input(names, &param.ty, &name)?);
    }
    Ok(head("int", &format!("dagaz_entry_{}", identifier(&entry.name)), &params))
}

fn output_names(entry: &Entry) -> Vec<String> {
    match entry.results.len() {
        1 => vec!["out".to_string()],
        many => (0..many).map(|i| format!("out{i}")).collect(),
    }
}

fn input_names(entry: &Entry) -> Vec<String> {
    parameter_names(entry.params.iter().map(|p| p.name.as_str()))
}

/// The types behind the names of the header.
pub(super) fn types(names: &Names) -> String {
    let mut text = String::new();
    for (elem, rank) in &names.arrays {
        let _ = writeln!(text, "struct {} {{ dz_array array; }};", array_name(*elem, *rank));
    }
    for opaque in &names.opaques {
        let _ = writeln!(text, "struct {} {{ dz_record record; }};", opaque.c_name);
    }
    text
}

/// The functions themselves.
pub(super) fn definitions(program: &Program, names: &Names) -> Result<String, String> {
    let mut text = String::new();
    for (elem, rank) in &names.arrays {
        array_functions(&mut text, *elem, *rank);
    }
    for opaque in &names.opaques {
        opaque_functions(&mut text, names, opaque)?;
    }
    for (number, entry) in program.entries.iter().enumerate() {
        entry_function(&mut text, program, names, number, entry)?;
    }
    Ok(text)
}

fn array_functions(text: &mut String, elem: PrimType, rank: usize) {
    let (name, code) = (array_name(elem, rank), type_code(elem));
    let dims: Vec<String> = (0..rank).map(|i| format!("dim{i}")).collect();
    let dims = dims.join(", ");
    let bodies = [
        format!(
            "const i64 dims[] = {{{dims}}};\n  return ({name} *)dz_array_new(ctx, {code}, {rank}, data, dims);"
        ),
        "dz_array_free(ctx, (dz_array *)array);".to_string(),
        "return dz_array_values(ctx, &array->array, out);".to_string(),
        "return array->array.value.data;".to_string(),
        "return array->array.value.dims;".to_string(),
    ];
    for (head, body) in array_heads(elem, rank).iter().zip(bodies) {
        let _ = writeln!(text, "{head} {{\n  {body}\n}}\n");
    }
}

fn opaque_functions(text: &mut String, names: &Names, opaque: &OpaqueType) -> Result<(), String> {
    let heads = opaque_heads(names, opaque)?;
    let mut bodies = vec!["dz_record_free(ctx, (dz_record *)value);".to_string()];
    if let Some(fields) = &opaque.fields {
        bodies.push(new_record(names, opaque, fields)?);
        let mut at = 0;
        for (_, ty) in fields {
            bodies.push(match shape(names, ty)? {
                Shape::Scalar(prim) => format!(
                    "u64 bits = 0;\n  int status = dz_get_scalar(ctx, &bits, &value->record, {at});\n  \
                     if (!status) *out = dz_from_{prim}(bits);\n  return status;"
                ),
                Shape::Array => {
                    let core = ty.types().first();
                    let code = core.and_then(Type::elem).map_or(0, type_code);
                    let rank = core.map_or(0, Type::rank);
                    format!(
                        "return dz_get_array(ctx, (dz_array **)out, &value->record, {at}, {code}, {rank});"
                    )
                }
                Shape::Opaque(part) => format!(
                    "return dz_get_record(ctx, (dz_record **)out, &value->record, {at}, {});",
                    part.types.len()
                ),
            });
            at += ty.arity();
        }
    }
    for (head, body) in heads.iter().zip(bodies) {
        let _ = writeln!(text, "{head} {{\n  {body}\n}}\n");
    }
    Ok(())
}

fn new_record(names: &Names, opaque: &OpaqueType, fields: &[(String, EntryType)]) -> Result<String, String> {
    let mut checks = String::new();
    let mut shares = String::new();
    let mut at = 0;
    for ((_, ty), field) in fields.iter().zip(field_names(fields)) {
        let (inside, values) = match shape(names, ty)? {
            Shape::Scalar(prim) => {
                let _ = write!(shares, "  record->values[{at}].bits = dz_bits_{prim}({field});\n");
                at += 1;
                continue;
            }
            Shape::Array => ("array", format!("&{field}->array.value")),
            Shape::Opaque(_) => ("record", format!("{field}->record.values")),
        };
        let _ = write!(
            checks,
            "if (!{field} || {field}->{inside}.owner != ctx) \
             return dz_invalid(ctx, \"a field is not a value of this context\");\n  "
        );
        let _ = write!(shares, "  dz_share(ctx, &record->values[{at}], {values}, {});\n", ty.arity());
        at += ty.arity();
    }
    Ok(format!(
        "{checks}dz_record *record = dz_record_alloc(ctx, {});\n  if (!record) return dz_no_memory(ctx);\n\
         {shares}  *out = ({} *)record;\n  return DAGAZ_SUCCESS;",
        opaque.types.len(),
        opaque.c_name
    ))
}

fn entry_function(
    text: &mut String,
    program: &Program,
    names: &Names,
    number: usize,
    entry: &Entry,
) -> Result<(), String> {
    let fun = program.fun(entry.fun).ok_or("internal error: an entry point without a function")?;
    let _ = writeln!(text, "{} {{", entry_head(names, entry)?);
    // C has no empty arrays.
    let (ins, outs) = (fun.params.len().max(1), fun.ret.len().max(1));
    let _ = writeln!(text, "  dz_value in_values[{ins}] = {{{{0}}}}, out_values[{outs}] = {{{{0}}}};");
    let _ = writeln!(text, "  i64 refs[{ins}];");
    let _ = writeln!(
        text,
        "  dz_call call = {{ctx, &dz_entries[{number}], in_values, out_values, refs, 0, 0, 0}};\n  \
         dz_call_begin(&call);"
    );
    for (param, name) in entry.params.iter().zip(input_names(entry)) {
        let _ = match shape(names, &param.ty)? {
            Shape::Scalar(prim) => writeln!(text, "  dz_pass_scalar(&call, dz_bits_{prim}({name}));"),
            Shape::Array => writeln!(text, "  dz_pass_array(&call, (const dz_array *){name});"),
            Shape::Opaque(o) => {
                let count = o.types.len();
                writeln!(text, "  dz_pass_record(&call, (const dz_record *){name}, {count});")
            }
        };
    }
    let _ = writeln!(text, "  if (dz_call_run(&call)) return dz_call_end(&call);");
    for (ty, name) in entry.results.iter().zip(output_names(entry)) {
        let c_type = names.c_type(ty);
        let _ = match shape(names, ty)? {
            Shape::Scalar(prim) => writeln!(text, "  *{name} = dz_from_{prim}(dz_take_scalar(&call));"),
            Shape::Array => writeln!(text, "  *{name} = ({c_type} *)dz_take_array(&call);"),
            Shape::Opaque(o) => {
                let count = o.types.len();
                writeln!(text, "  *{name} = ({c_type} *)dz_take_record(&call, {count});")
            }
        };
    }
    let _ = writeln!(text, "  return dz_call_end(&call);\n}}\n");
    Ok(())
}
