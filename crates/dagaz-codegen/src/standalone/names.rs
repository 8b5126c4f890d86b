//! The C names of types, functions and parameters.

use std::collections::{BTreeSet, HashMap};

use dagaz_core::exp::{EntryType, OpaqueKind, Program};
use dagaz_core::prim::PrimType;
use dagaz_core::types::Type;

/// Words of C, and names that the generated functions use themselves.
const RESERVED: &[&str] = &[
    "auto",
    "bool",
    "break",
    "case",
    "char",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "float",
    "for",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "typedef",
    "union",
    "unsigned",
    "void",
    "volatile",
    "while",
    "ctx",
    "call",
    "out",
    "true",
    "false",
    "asm",
    "class",
    "new",
    "delete",
    "this",
    "template",
    "refs",
    "in_values",
    "out_values",
    "record",
    "i8",
    "i16",
    "i32",
    "i64",
    "u8",
    "u16",
    "u32",
    "u64",
    "f16",
    "f32",
    "f64",
];

/// A type of the user's that is not a scalar or an array of scalars.
pub(super) struct OpaqueType {
    pub c_name: String,
    pub source_name: String,
    pub types: Vec<Type>,
    /// None for what cannot be taken apart.
    pub fields: Option<Vec<(String, EntryType)>>,
}

/// The types that a library has, each with its C name.
pub(super) struct Names {
    /// Element type and rank.
    pub arrays: BTreeSet<(PrimType, usize)>,
    pub opaques: Vec<OpaqueType>,
    by_key: HashMap<String, usize>,
}

impl Names {
    pub fn new(program: &Program) -> Result<Names, String> {
        let mut names = Names { arrays: BTreeSet::new(), opaques: Vec::new(), by_key: HashMap::new() };
        for entry in &program.entries {
            let params = entry.params.iter().map(|p| &p.ty);
            for ty in params.chain(&entry.results) {
                names.collect(ty)?;
            }
        }
        Ok(names)
    }

    fn collect(&mut self, ty: &EntryType) -> Result<(), String> {
        match ty {
            EntryType::Value { ty: Type::Array { elem, dims }, .. } => {
                self.arrays.insert((*elem, dims.len()));
            }
            EntryType::Value { .. } => {}
            EntryType::Opaque { name, types, kind } => {
                let fields = match kind {
                    OpaqueKind::Record(fields) => {
                        fields.iter().try_for_each(|(_, field)| self.collect(field))?;
                        Some(fields.clone())
                    }
                    OpaqueKind::Sum(_) | OpaqueKind::Array(_) | OpaqueKind::Other => None,
                };
                if !self.by_key.contains_key(&key(ty)) {
                    let c_name = self.opaque_name(name);
                    self.by_key.insert(key(ty), self.opaques.len());
                    let (source_name, types) = (name.clone(), types.clone());
                    self.opaques.push(OpaqueType { c_name, source_name, types, fields });
                }
            }
        }
        Ok(())
    }

    /// The type's own name where it has a short one, otherwise a number.
    fn opaque_name(&self, name: &str) -> String {
        let wanted = format!("dagaz_{}", identifier(name));
        let is_taken = |candidate: &String| self.opaques.iter().any(|o| o.c_name == *candidate);
        if is_identifier(name) && !is_taken(&wanted) && !RESERVED_TYPES.contains(&wanted.as_str()) {
            return wanted;
        }
        format!("dagaz_opaque_{}", self.opaques.len())
    }

    pub fn opaque(&self, ty: &EntryType) -> Option<&OpaqueType> {
        self.by_key.get(&key(ty)).and_then(|i| self.opaques.get(*i))
    }

    /// The C type, without the star of those that are behind pointers.
    pub fn c_type(&self, ty: &EntryType) -> String {
        match ty {
            EntryType::Value { ty, .. } => match ty.elem() {
                Some(elem) if ty.rank() > 0 => array_name(elem, ty.rank()),
                Some(elem) => c_scalar(elem).to_string(),
                None => "void".to_string(),
            },
            EntryType::Opaque { .. } => self.opaque(ty).map_or_else(|| "void".into(), |o| o.c_name.clone()),
        }
    }
}

/// Names of the library itself.
const RESERVED_TYPES: &[&str] = &["dagaz_config", "dagaz_context"];

/// The name, and what is inside: sizes may have different names in different places.
fn key(ty: &EntryType) -> String {
    let shape = |ty: &Type| format!("{}x{:?}", ty.rank(), ty.elem());
    let types: Vec<String> = ty.types().iter().map(shape).collect();
    let fields = match ty {
        EntryType::Opaque { kind: OpaqueKind::Record(fields), .. } => {
            fields.iter().map(|(name, field)| format!("{name}={}", key(field))).collect::<Vec<_>>().join(",")
        }
        EntryType::Opaque {
            kind: OpaqueKind::Sum(_) | OpaqueKind::Array(_) | OpaqueKind::Other,
            name,
            ..
        } => name.clone(),
        EntryType::Value { .. } => String::new(),
    };
    let own = if is_identifier(ty.name()) { ty.name() } else { "" };
    format!("{own}|{}|{fields}", types.join(","))
}

pub(super) fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A name with what C does not have replaced.
pub(super) fn identifier(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

pub(super) fn array_name(elem: PrimType, rank: usize) -> String {
    format!("dagaz_{elem}_{rank}d")
}

pub(super) fn c_scalar(ty: PrimType) -> &'static str {
    match ty {
        PrimType::I8 => "int8_t",
        PrimType::I16 => "int16_t",
        PrimType::I32 => "int32_t",
        PrimType::I64 => "int64_t",
        PrimType::U8 => "uint8_t",
        PrimType::U16 | PrimType::F16 => "uint16_t",
        PrimType::U32 => "uint32_t",
        PrimType::U64 => "uint64_t",
        PrimType::F32 => "float",
        PrimType::F64 => "double",
        PrimType::Bool => "bool",
    }
}

/// Names of parameters that are different from each other and from the words of C.
pub(super) fn parameter_names<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let unique = names.enumerate().map(|(i, name)| {
        let clean = identifier(name);
        let is_usable = is_identifier(&clean)
            && !RESERVED.contains(&clean.as_str())
            && !clean.starts_with("out")
            && !clean.starts_with("dz_");
        let mut wanted = if is_usable { clean } else { format!("in{i}") };
        while !taken.insert(wanted.clone()) {
            wanted.push('_');
        }
        wanted
    });
    unique.collect()
}
