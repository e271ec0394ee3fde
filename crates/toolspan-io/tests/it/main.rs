//! Does the crate keep its promises against real processes?
