//! The forms in which model APIs take tools: one file per API.

pub mod openai;
