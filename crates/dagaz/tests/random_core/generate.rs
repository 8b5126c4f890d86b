//! Random programs of Core. They are well formed by construction, and every number in them is exact: floats are small
//! integers, which sums in any order keep. So results must be equal to the bit, whatever runs a program.

use dagaz_core::build::Builder;
use dagaz_core::exp::{Check, Entry, EntryParam, EntryType, Exp, Fun, Loc, MsgPart, Program, Stm, Vars};
use dagaz_core::prim::{BinOp, CmpOp, Prim, PrimType, UnOp};
use dagaz_core::types::{Atom, FunId, Param, Type, VarId};

use super::dice::Dice;

/// Floats are brought back below this number after operations that make them larger.
const TAME: f64 = 1024.0;

/// Types of scalars in programs, the likely ones more than once.
const SCALARS: [PrimType; 8] = [
    PrimType::I64,
    PrimType::I64,
    PrimType::F64,
    PrimType::F64,
    PrimType::I32,
    PrimType::U8,
    PrimType::F32,
    PrimType::Bool,
];

/// The parameters of every entry point besides the sizes `n` and `m`.
pub const PARAMS: [(PrimType, &[usize]); 5] = [
    (PrimType::I64, &[]),
    (PrimType::I64, &[0]),
    (PrimType::F64, &[0]),
    (PrimType::F64, &[0, 1]),
    (PrimType::I32, &[1]),
];

/// A program with one entry point for each seed: `main0`, `main1`, and so on.
pub fn program(seeds: impl Iterator<Item = u64>) -> Program {
    let mut program = Program::default();
    for (number, seed) in seeds.enumerate() {
        let vars = std::mem::take(&mut program.vars);
        let mut generator = Generator::new(seed, vars);
        let fun = generator.function(number);
        program.entries.push(entry(number, &fun));
        program.vars = generator.b.finish().0;
        program.funs.push(fun);
    }
    program
}

fn entry(number: usize, fun: &Fun) -> Entry {
    let shown = |ty: &Type| EntryType::Value { name: "value".to_owned(), ty: ty.clone() };
    let params = fun.params.iter().skip(2).enumerate();
    let params = params.map(|(i, p)| EntryParam { name: format!("p{i}"), ty: shown(&p.ty), unique: false });
    Entry {
        name: format!("main{number}"),
        fun: FunId(u32::try_from(number).unwrap_or(u32::MAX)),
        size_params: 2,
        params: params.collect(),
        size_results: 0,
        results: fun.ret.iter().map(|r| shown(&r.ty)).collect(),
    }
}

pub(super) struct Generator {
    pub b: Builder,
    pub dice: Dice,
    /// How many more operations there may be.
    pub left: usize,
    pub scope: Vec<Param>,
    /// Sizes that arrays may have: constants and variables that are in scope everywhere.
    pub sizes: Vec<Atom>,
}

impl Generator {
    fn new(seed: u64, vars: Vars) -> Generator {
        let mut dice = Dice::new(seed);
        let left = 15 + dice.below(60);
        Generator { b: Builder::new(vars), dice, left, scope: Vec::new(), sizes: Vec::new() }
    }

    fn function(&mut self, number: usize) -> Fun {
        let sizes = ["n", "m"].map(|hint| self.b.fresh_param(hint, Type::I64));
        let known = sizes.each_ref().map(|p| Atom::Var(p.var));
        self.sizes = known.iter().copied().chain([1, 2, 3, 5].map(Atom::i64)).collect();
        let mut params = sizes.to_vec();
        for (elem, dims) in PARAMS {
            let ty = Type::array(elem, dims.iter().map(|i| known[*i]).collect());
            params.push(self.b.fresh_param("p", ty));
        }
        self.scope = params.clone();
        let types: Vec<Type> = (0..1 + self.dice.below(3)).map(|_| self.any_type(3)).collect();
        let body = self.body(&[], &types, 6);
        let ret = types.into_iter().map(|ty| self.b.fresh_param("r", ty)).collect();
        Fun { name: format!("f{number}"), params, ret, body, loc: Loc::NONE }
    }

    pub fn scalar_type(&mut self) -> PrimType {
        SCALARS[self.dice.below(SCALARS.len())]
    }

    pub fn size(&mut self) -> Atom {
        // The parameters are the sizes that matter.
        let few = if self.dice.once_in(2) { 2 } else { self.sizes.len() };
        self.sizes[self.dice.below(few)]
    }

    pub fn any_type(&mut self, rank: usize) -> Type {
        let elem = self.scalar_type();
        let rank = self.dice.below(rank);
        let dims = (0..rank).map(|_| self.size()).collect();
        Type::array(elem, dims)
    }

    /// A body with parameters in scope.
    pub fn body(&mut self, params: &[Param], types: &[Type], depth: usize) -> dagaz_core::exp::Body {
        let outside = self.scope.len();
        self.scope.extend(params.iter().cloned());
        self.b.push_scope();
        let result: Vec<Atom> = types.iter().map(|ty| self.value(ty, depth)).collect();
        self.scope.truncate(outside);
        dagaz_core::exp::Body { stms: self.b.pop_scope(), result }
    }

    /// Binds one variable, which what follows may use.
    pub fn bind(&mut self, ty: &Type, exp: Exp) -> Atom {
        let var = self.bind_silently(ty, exp);
        self.scope.push(Param::new(var, ty.clone()));
        var.into()
    }

    /// Binds a variable that nobody else uses, so that it may be consumed.
    pub fn bind_silently(&mut self, ty: &Type, exp: Exp) -> VarId {
        self.b.let_var("v", ty.clone(), exp, Loc::NONE)
    }

    /// Binds several variables, the first of which is the result.
    pub fn bind_all(&mut self, types: &[Type], exp: Exp) -> Atom {
        let vars = self.b.let_exps("v", types, exp, Loc::NONE);
        let params = vars.iter().zip(types).map(|(var, ty)| Param::new(*var, ty.clone()));
        self.scope.extend(params);
        vars[0].into()
    }

    pub fn as_var(&mut self, ty: &Type, atom: Atom) -> VarId {
        self.b.atom_var("v", ty.clone(), atom, Loc::NONE)
    }

    /// A variable that meets a condition; those bound last are the most likely.
    pub fn variable(&mut self, wanted: impl Fn(&Type) -> bool) -> Option<Param> {
        let found: Vec<Param> = self.scope.iter().filter(|p| wanted(&p.ty)).cloned().collect();
        let last = self.dice.below(found.len()).max(self.dice.below(found.len()));
        found.get(last).cloned()
    }

    pub fn value(&mut self, ty: &Type, depth: usize) -> Atom {
        let same = self.variable(|found| found == ty);
        if let Some(same) = same
            && (depth == 0 || self.left == 0 || self.dice.once_in(5))
        {
            return same.var.into();
        }
        if depth > 0 && self.left > 0 {
            self.left -= 1;
            if self.dice.once_in(7) {
                return self.control(ty, depth - 1);
            }
            return match ty {
                Type::Prim(scalar) => self.scalar(*scalar, depth - 1),
                Type::Array { elem, dims } => self.array(*elem, dims, depth - 1),
                Type::Acc { .. } => unreachable!("no accumulator is wanted as a value"),
            };
        }
        self.leaf(ty)
    }

    pub fn constant(&mut self, ty: PrimType) -> Prim {
        let number = self.dice.below(9) as i64 - 3;
        Prim::of_i64(ty, if ty.is_unsigned() || ty == PrimType::Bool { number.abs() % 3 } else { number })
    }

    fn leaf(&mut self, ty: &Type) -> Atom {
        match ty.elem() {
            Some(elem) if ty.rank() == 0 => self.leaf_scalar(elem),
            Some(elem) => {
                let value = self.leaf_scalar(elem);
                self.bind(ty, Exp::Replicate { dims: ty.dims().to_vec(), value })
            }
            None => unreachable!("no accumulator is wanted as a value"),
        }
    }

    /// A scalar of another type, or a constant.
    fn leaf_scalar(&mut self, ty: PrimType) -> Atom {
        let found = self.variable(|found| found.rank() == 0 && !found.is_acc());
        match found.and_then(|found| found.ty.elem().map(|from| (from, found.var))) {
            Some((from, var)) if !self.dice.once_in(4) => self.converted(from, var.into(), ty),
            Some(_) | None => self.constant(ty).into(),
        }
    }

    /// A number that is not large.
    pub fn tame(&mut self, ty: PrimType, x: Atom) -> Atom {
        match Prim::of_f64(ty, TAME) {
            Some(most) => self.bind(&ty.into(), Exp::BinOp(BinOp::Mod, ty, x, most.into())),
            None => x,
        }
    }

    fn scalar(&mut self, ty: PrimType, depth: usize) -> Atom {
        match self.dice.below(8) {
            0 | 1 => self.element(ty, depth),
            2 => self.folded(ty, depth),
            3 => self.conversion(ty, depth),
            4 if ty == PrimType::Bool => self.comparison(depth),
            4 => self.unary(ty, depth),
            _ if ty == PrimType::Bool => self.comparison(depth),
            _ => self.binary(ty, depth),
        }
    }

    fn comparison(&mut self, depth: usize) -> Atom {
        let ty = self.scalar_type();
        let (x, y) = (self.value(&ty.into(), depth), self.value(&ty.into(), depth));
        let op = *self.dice.one_of(&[&CmpOp::Eq, &CmpOp::Lt, &CmpOp::Le]);
        self.bind(&Type::BOOL, Exp::CmpOp(op, ty, x, y))
    }

    fn unary(&mut self, ty: PrimType, depth: usize) -> Atom {
        let x = self.value(&ty.into(), depth);
        let op = match (ty.is_float(), self.dice.below(3)) {
            (true, 0) => UnOp::Floor,
            (_, 0) => UnOp::Not,
            (_, 1) => UnOp::Abs,
            (_, _) => UnOp::Neg,
        };
        self.bind(&ty.into(), Exp::UnOp(op, ty, x))
    }

    fn binary(&mut self, ty: PrimType, depth: usize) -> Atom {
        let (x, y) = (self.value(&ty.into(), depth), self.value(&ty.into(), depth));
        let ops = match ty.is_float() {
            true => &[BinOp::Add, BinOp::Sub, BinOp::Mul, BinOp::Min, BinOp::Max][..],
            false => &[
                BinOp::Add,
                BinOp::Sub,
                BinOp::Mul,
                BinOp::Min,
                BinOp::Max,
                BinOp::And,
                BinOp::Xor,
                BinOp::Div,
                BinOp::Rem,
                BinOp::Mod,
            ],
        };
        let op = ops[self.dice.below(ops.len())];
        let y = match op {
            BinOp::Div | BinOp::Rem | BinOp::Mod if !self.dice.once_in(40) => {
                self.bind(&ty.into(), Exp::BinOp(BinOp::Or, ty, y, Prim::one(ty).into()))
            }
            _ => y,
        };
        let result = self.bind(&ty.into(), Exp::BinOp(op, ty, x, y));
        self.tame(ty, result)
    }

    fn conversion(&mut self, ty: PrimType, depth: usize) -> Atom {
        let from = self.scalar_type();
        if from == ty {
            return self.value(&ty.into(), depth);
        }
        let x = self.value(&from.into(), depth);
        self.converted(from, x, ty)
    }

    fn converted(&mut self, from: PrimType, x: Atom, ty: PrimType) -> Atom {
        if from == ty {
            return x;
        }
        // What is exact in one type is exact in all others.
        let x = match from.is_int() && from != PrimType::U8 && ty.is_float() {
            true => {
                let most = Prim::of_i64(from, 1000).into();
                self.bind(&from.into(), Exp::BinOp(BinOp::Mod, from, x, most))
            }
            false => self.tame(from, x),
        };
        self.bind(&ty.into(), Exp::Convert(from, ty, x))
    }

    /// An index that is within bounds unless there is nothing.
    pub fn index(&mut self, size: Atom, depth: usize) -> Atom {
        let ty = PrimType::I64;
        let index = self.value(&Type::I64, depth);
        if self.dice.once_in(40) {
            return index;
        }
        let size = match size {
            Atom::Const(_) => size,
            Atom::Var(_) => self.bind(&Type::I64, Exp::BinOp(BinOp::Max, ty, size, Atom::i64(1))),
        };
        self.bind(&Type::I64, Exp::BinOp(BinOp::Mod, ty, index, size))
    }

    fn element(&mut self, ty: PrimType, depth: usize) -> Atom {
        let Some(array) = self.variable(|found| found.is_array() && found.elem() == Some(ty)) else {
            return self.constant(ty).into();
        };
        let depth = depth.min(2);
        let indices: Vec<Atom> = array.ty.dims().iter().map(|size| self.index(*size, depth)).collect();
        self.bind(&ty.into(), Exp::Index { array: array.var, indices, check: Check::Checked })
    }

    /// A check that holds nearly always.
    pub fn check(&mut self, depth: usize) {
        let x = self.value(&Type::I64, depth);
        let least = Atom::i64(-50_000);
        let cond = self.bind(&Type::BOOL, Exp::CmpOp(CmpOp::Le, PrimType::I64, least, x));
        let message = vec![MsgPart::Text("too little: ".to_owned()), MsgPart::Value(x)];
        self.b.push(Stm { pat: Vec::new(), exp: Exp::Assert { cond, message }, loc: Loc::NONE });
    }
}
