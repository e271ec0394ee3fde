//! The forms in which model APIs take tools, and in which they take results.
//!
//! A projection is pure: it reads a snapshot and writes JSON. The schema that a call is checked by
//! stays the author's, whatever a form cannot say. Every change is recorded as a [`Loss`] with what
//! it means ([`Effect`]); a tool that an API cannot take is left out alone, as [`LeftOut`].
//!
//! One file says what an API takes: [`openai`], `responses`, `anthropic`, `gemini`,
//! `gemini_open_api`, `mcp`. They share the way there: `as_written` finds what an API would refuse;
//! most schemas have nothing of it and are given as they are. Others are read (`reading`) into a
//! `tree`, which is walked (`walk`) by an API's rules.

mod anthropic;
mod as_written;
mod combine;
mod form;
mod gemini;
mod gemini_open_api;
mod injection;
mod keys;
mod loose;
mod loss;
mod mcp;
mod names;
pub mod openai;
mod projection;
mod reading;
mod responses;
mod result;
mod root;
mod shape;
mod strict;
mod tree;
mod types;
mod walk;
mod words;

pub use form::{Api, Form, Strict};
pub use loss::{Effect, LeftOut, Loss};
pub use projection::{Offered, Projection, Renamed};
pub use result::{Answered, tool_result};
