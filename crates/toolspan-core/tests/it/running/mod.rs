//! How do calls run beside, within and after each other, and who may look at them?

mod batch;
mod clock;
mod house;
mod intercept;
mod locks;
mod nested;
mod secrets;
