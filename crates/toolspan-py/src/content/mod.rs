//! What is a caller given of the blocks of an answer? A class for each kind.

mod binary;
mod block;
mod other;
mod resource;
mod text;

pub(crate) use binary::{AudioContent, ImageContent};
pub(crate) use block::{Block, union};
pub(crate) use other::OtherContent;
pub(crate) use resource::{EmbeddedResource, ResourceLink};
pub(crate) use text::TextContent;
