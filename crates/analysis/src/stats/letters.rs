//! The compact letter display of all pairs.
