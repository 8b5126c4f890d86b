//! Derivatives of entry points, as entry points with Rust types of their own.

use super::entry::AndParameter;
use super::{Data, Entry, Error, Signature};
use crate::derived::{self, Derivative};

/// The parameter at a position of a list of parameters.
pub trait At<const I: usize> {
    type Parameter: Data;
}

macro_rules! positions {
    ($($($name:ident)*, $number:literal $chosen:ident;)*) => {
        $(impl<$($name: Data),*> At<$number> for ($($name,)*) {
            type Parameter = $chosen;
        })*
    };
}

positions! {
    A, 0 A;
    A B, 0 A; A B, 1 B;
    A B C, 0 A; A B C, 1 B; A B C, 2 C;
    A B C D, 0 A; A B C D, 1 B; A B C D, 2 C; A B C D, 3 D;
    A B C D E, 0 A; A B C D E, 1 B; A B C D E, 2 C; A B C D E, 3 D; A B C D E, 4 E;
    A B C D E F, 0 A; A B C D E F, 1 B; A B C D E F, 2 C; A B C D E F, 3 D; A B C D E F, 4 E; A B C D E F, 5 F;
    A B C D E F G, 0 A; A B C D E F G, 1 B; A B C D E F G, 2 C; A B C D E F G, 3 D; A B C D E F G, 4 E; A B C D E F G, 5 F;
    A B C D E F G, 6 G;
    A B C D E F G H, 0 A; A B C D E F G H, 1 B; A B C D E F G H, 2 C; A B C D E F G H, 3 D; A B C D E F G H, 4 E;
    A B C D E F G H, 5 F; A B C D E F G H, 6 G; A B C D E F G H, 7 H;
}

/// What a derivative takes and gives, for the parameter at a position.
type Chosen<F, const I: usize> = <<F as Signature>::Parameters as At<I>>::Parameter;

/// The type of a value together with a gradient.
type ValueAndGradient<F, const I: usize> = <F as Signature>::Giving<(<F as Signature>::Result, Chosen<F, I>)>;
/// The type of a result and its change, given a direction.
type Forward<F> =
    <F as AndParameter>::Taking<Chosen<F, 0>, (<F as Signature>::Result, <F as Signature>::Result)>;
/// The type of an adjoint, given that of the result.
type Reverse<F> = <F as AndParameter>::Taking<<F as Signature>::Result, Chosen<F, 0>>;
/// The type of a change of the gradient, given a direction.
type HessianProduct<F> = <F as AndParameter>::Taking<Chosen<F, 0>, Chosen<F, 0>>;

impl<F: Signature> Entry<F> {
    /// The gradient of a floating-point number with respect to the first parameter.
    pub fn grad(&self) -> Result<Entry<F::Giving<Chosen<F, 0>>>, Error>
    where
        F::Parameters: At<0>,
    {
        self.grad_at::<0>()
    }

    /// The gradient of a floating-point number with respect to the parameter at a position.
    pub fn grad_at<const I: usize>(&self) -> Result<Entry<F::Giving<Chosen<F, I>>>, Error>
    where
        F::Parameters: At<I>,
    {
        self.derive(Derivative::Gradient, I)
    }

    /// A floating-point number together with its gradient with respect to the first parameter.
    pub fn value_and_grad(&self) -> Result<Entry<ValueAndGradient<F, 0>>, Error>
    where
        F::Parameters: At<0>,
    {
        self.value_and_grad_at::<0>()
    }

    /// A floating-point number together with its gradient with respect to the parameter at a position.
    pub fn value_and_grad_at<const I: usize>(&self) -> Result<Entry<ValueAndGradient<F, I>>, Error>
    where
        F::Parameters: At<I>,
    {
        self.derive(Derivative::ValueAndGradient, I)
    }

    /// The result and how it changes in a direction of the first parameter, which comes last.
    pub fn jvp(&self) -> Result<Entry<Forward<F>>, Error>
    where
        F: AndParameter,
        F::Parameters: At<0>,
    {
        self.derive(Derivative::Jvp, 0)
    }

    /// The adjoint of the first parameter, for that of the result, which comes last.
    pub fn vjp(&self) -> Result<Entry<Reverse<F>>, Error>
    where
        F: AndParameter,
        F::Parameters: At<0>,
    {
        self.derive(Derivative::Vjp, 0)
    }

    /// The product of the second derivative of a floating-point number with a direction of the first parameter, which comes
    /// last.
    pub fn hvp(&self) -> Result<Entry<HessianProduct<F>>, Error>
    where
        F: AndParameter,
        F::Parameters: At<0>,
    {
        self.derive(Derivative::HessianProduct, 0)
    }

    fn derive<G: Signature>(&self, derivative: Derivative, position: usize) -> Result<Entry<G>, Error> {
        let (core, name) = derived::add(&self.lowered().core, self.name(), position, derivative)
            .map_err(Error::Signature)?;
        Entry::new(&name, self.lowered().clone().with_core(core), self.execution().clone())
    }
}
