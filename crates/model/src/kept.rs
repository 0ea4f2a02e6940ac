//! Values that the core keeps for the crate that made them. It compares and prints them, and looks into none.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// A value of another crate, or none.
#[derive(Debug, Clone, Default)]
pub struct Kept(Option<Arc<dyn Value>>);

trait Value: Any + Debug + Send + Sync {
    fn is_same(&self, other: &dyn Any) -> bool;
}

impl<T: Any + Debug + PartialEq + Send + Sync> Value for T {
    fn is_same(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(self)
    }
}

impl Kept {
    /// Keeps a value.
    pub fn new<T: Any + Debug + PartialEq + Send + Sync>(value: T) -> Self {
        Self(Some(Arc::new(value)))
    }

    /// The value, if it is of this type.
    pub fn get<T: Any>(&self) -> Option<&T> {
        let value: &dyn Any = self.0.as_deref()?;
        value.downcast_ref()
    }
}

impl PartialEq for Kept {
    fn eq(&self, other: &Self) -> bool {
        match (self.0.as_deref(), other.0.as_deref()) {
            (Some(one), Some(other)) => one.is_same(other),
            (one, other) => one.is_none() && other.is_none(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Kept;

    #[test]
    fn a_value_is_found_by_its_type_and_is_the_same_as_an_equal_one() {
        let one = Kept::new(1_u8);
        assert_eq!((one.get::<u8>(), one.get::<u16>()), (Some(&1), None));
        assert_eq!(one, Kept::new(1_u8));
        assert_ne!(one, Kept::new(2_u8));
        assert_ne!(one, Kept::new(1_u16));
        assert_ne!(one, Kept::default());
        assert_eq!(Kept::default(), Kept::default());
    }
}
