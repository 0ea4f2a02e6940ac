//! Looks at a growing study that together spend one alpha (Lan & DeMets 1983).
