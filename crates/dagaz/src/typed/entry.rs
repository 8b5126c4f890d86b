//! Entry points with Rust types.

use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};

use dagaz_core::argument::Argument;
use dagaz_core::exp::{Entry as CoreEntry, EntryType};

use super::data::rust_type;
use super::{Data, Error, Give};
use crate::compile::{Compiled, Lowered};
use crate::session::{Execution, Session};

/// The type of an entry point: `fn(A, B) -> R`.
pub trait Signature: 'static {
    /// The parameters, as a tuple.
    type Parameters;
    type Result: Data;
    /// The same parameters, and another result.
    type Giving<R: Data>: Signature<Result = R>;

    #[doc(hidden)]
    fn rust_name() -> String;

    /// Whether each parameter is what the program has.
    #[doc(hidden)]
    fn parameters_fit(params: &[&EntryType]) -> Vec<bool>;
}

/// A signature that can have one more parameter.
pub trait AndParameter: Signature {
    type Taking<P: Data, R: Data>: Signature<Result = R>;
}

/// An entry point of a program as a function with Rust types.
///
/// It is compiled to machine code when it is first called, or by [`Entry::prepare`].
pub struct Entry<F> {
    shared: Arc<Shared>,
    signature: PhantomData<F>,
}

struct Shared {
    name: String,
    /// Before derivatives are expanded, for derivatives of this one.
    lowered: Lowered,
    compiled: Compiled,
    execution: Execution,
    /// Those that no call uses now.
    free: Mutex<Vec<Session>>,
}

impl<F> Clone for Entry<F> {
    fn clone(&self) -> Entry<F> {
        Entry { shared: self.shared.clone(), signature: PhantomData }
    }
}

impl<F: Signature> fmt::Debug for Entry<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.shared.name, F::rust_name())
    }
}

impl<F: Signature> Entry<F> {
    pub(super) fn new(name: &str, lowered: Lowered, execution: Execution) -> Result<Entry<F>, Error> {
        let entry = lowered.core.entries.iter().find(|entry| entry.name == name);
        let entry = entry.ok_or_else(|| Error::Signature(format!("there is no entry point `{name}`")))?;
        check::<F>(entry).map_err(Error::Signature)?;
        let compiled = lowered.clone().finish()?;
        let free = Mutex::new(Vec::new());
        let shared = Shared { name: name.to_owned(), lowered, compiled, execution, free };
        Ok(Entry { shared: Arc::new(shared), signature: PhantomData })
    }

    pub(super) fn lowered(&self) -> &Lowered {
        &self.shared.lowered
    }

    pub(super) fn execution(&self) -> &Execution {
        &self.shared.execution
    }

    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// Makes machine code now, and not at the first call. Gives the reason if there is none, and the interpreter runs calls.
    pub fn prepare(&self) -> Result<(), String> {
        let session = self.session();
        let notice = session.notice().map(str::to_owned);
        self.put_back(session);
        notice.map_or(Ok(()), Err)
    }

    fn session(&self) -> Session {
        let free = self.shared.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        free.unwrap_or_else(|| self.shared.compiled.session_with(&self.shared.execution))
    }

    fn put_back(&self, session: Session) {
        self.shared.free.lock().unwrap_or_else(PoisonError::into_inner).push(session);
    }

    fn call_with(&self, args: Vec<Argument<'_>>) -> Result<F::Result, Error> {
        let mut session = self.session();
        let outcome = session.call_with(&self.shared.name, args);
        self.put_back(session);
        let mut values = outcome?.into_iter();
        F::Result::receive(&mut values).ok_or_else(|| {
            Error::Signature(format!(
                "internal error: `{}` gives what it was not said to give",
                self.shared.name
            ))
        })
    }
}

/// Compares a Rust type with what an entry point takes and gives.
fn check<F: Signature>(entry: &CoreEntry) -> Result<(), String> {
    let params: Vec<&EntryType> = entry.params.iter().map(|param| &param.ty).collect();
    let fits = F::parameters_fit(&params);
    if fits.len() == params.len() && !fits.contains(&false) && F::Result::fits_results(&entry.results) {
        return Ok(());
    }
    let named: Vec<String> = entry.params.iter().map(|p| format!("{}: {}", p.name, p.ty.name())).collect();
    let results: Vec<String> = entry.results.iter().map(|ty| ty.name().to_owned()).collect();
    let has = format!("`{}` takes ({}) and gives {}", entry.name, named.join(", "), tuple(&results));
    let wanted = F::rust_name();
    let all = params.iter().copied().chain(&entry.results);
    Err(match all.clone().find(|ty| rust_type(ty).is_none()) {
        Some(ty) => format!("{has}; {} has no counterpart in Rust, and so it is not {wanted}", ty.name()),
        None => {
            let rust: Vec<String> = all.filter_map(rust_type).collect();
            let (params, results) = rust.split_at(params.len());
            format!(
                "{has}, which is fn({}) -> {} in Rust and not {wanted}",
                params.join(", "),
                tuple(results)
            )
        }
    })
}

/// One type, or several as a tuple.
pub(super) fn tuple(types: &[String]) -> String {
    match types {
        [one] => one.clone(),
        several => format!("({})", several.join(", ")),
    }
}

macro_rules! signatures {
    ($($($name:ident $argument:ident),*;)*) => {
        $(
            impl<$($name: Data,)* R: Data> Signature for fn($($name),*) -> R {
                type Parameters = ($($name,)*);
                type Result = R;
                type Giving<S: Data> = fn($($name),*) -> S;

                fn rust_name() -> String {
                    let parameters: &[String] = &[$($name::rust_name()),*];
                    format!("fn({}) -> {}", parameters.join(", "), R::rust_name())
                }

                fn parameters_fit(params: &[&EntryType]) -> Vec<bool> {
                    let fits: &[fn(&EntryType) -> bool] = &[$($name::fits),*];
                    fits.iter().enumerate().map(|(i, fits)| params.get(i).is_some_and(|ty| fits(ty))).collect()
                }
            }

            impl<$($name: Data,)* R: Data> Entry<fn($($name),*) -> R> {
                /// Calls the entry point.
                #[allow(clippy::too_many_arguments)]
                pub fn call(&self, $($argument: impl Give<$name>),*) -> Result<R, Error> {
                    #[allow(unused_mut)]
                    let mut args = Vec::new();
                    $($argument.give(&mut args);)*
                    self.call_with(args)
                }
            }
        )*
    };
}

signatures! {
    ;
    A a;
    A a, B b;
    A a, B b, C c;
    A a, B b, C c, D d;
    A a, B b, C c, D d, E e;
    A a, B b, C c, D d, E e, G g;
    A a, B b, C c, D d, E e, G g, H h;
    A a, B b, C c, D d, E e, G g, H h, I i;
    A a, B b, C c, D d, E e, G g, H h, I i, J j;
}

macro_rules! and_parameter {
    ($($($name:ident)*;)*) => {
        $(impl<$($name: Data,)* R: Data> AndParameter for fn($($name),*) -> R {
            type Taking<P: Data, S: Data> = fn($($name,)* P) -> S;
        })*
    };
}

and_parameter! {
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E G;
    A B C D E G H;
    A B C D E G H I;
}
