//! The values of a statement's question marks.

use super::convert::ToValue;
use inia_base::value::Value;

/// Values for a statement's parameters, in their order: `()` for none, a tuple of up to twelve
/// values of any types, or an array, slice or vector of one type. `&[&dyn ToValue]` mixes types.
pub trait Params {
    /// Whether there is none.
    fn is_empty(&self) -> bool;

    /// Appends them.
    fn append(&self, values: &mut Vec<Value>);
}

impl Params for () {
    fn is_empty(&self) -> bool {
        true
    }

    fn append(&self, _values: &mut Vec<Value>) {}
}

impl<T: ToValue> Params for [T] {
    fn is_empty(&self) -> bool {
        <[T]>::is_empty(self)
    }

    fn append(&self, values: &mut Vec<Value>) {
        values.extend(self.iter().map(ToValue::to_value));
    }
}

impl<T: ToValue, const N: usize> Params for [T; N] {
    fn is_empty(&self) -> bool {
        N == 0
    }

    fn append(&self, values: &mut Vec<Value>) {
        self.as_slice().append(values);
    }
}

impl<T: ToValue> Params for Vec<T> {
    fn is_empty(&self) -> bool {
        Vec::is_empty(self)
    }

    fn append(&self, values: &mut Vec<Value>) {
        self.as_slice().append(values);
    }
}

impl<P: Params + ?Sized> Params for &P {
    fn is_empty(&self) -> bool {
        (**self).is_empty()
    }

    fn append(&self, values: &mut Vec<Value>) {
        (**self).append(values);
    }
}

macro_rules! tuples {
    ($($($type:ident)*;)*) => {$(
        impl<$($type: ToValue),*> Params for ($($type,)*) {
            fn is_empty(&self) -> bool {
                false
            }

            #[inline]
            #[allow(non_snake_case)]
            fn append(&self, values: &mut Vec<Value>) {
                let ($($type,)*) = self;
                $(values.push($type.to_value());)*
            }
        }
    )*};
}

tuples! {
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
    A B C D E F G;
    A B C D E F G H;
    A B C D E F G H I;
    A B C D E F G H I J;
    A B C D E F G H I J K;
    A B C D E F G H I J K L;
}
