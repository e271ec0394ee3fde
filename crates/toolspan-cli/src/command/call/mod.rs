//! `toolspan call`: calls one tool, or one after another with `--batch`.
//!
//! [`arguments`] makes the arguments from what was typed, [`single`] and [`batch`] do the calls,
//! [`save`] writes what is not text to files.

mod arguments;
mod batch;
mod input;
mod save;
mod single;

use toolspan::Result;

use crate::args::Call;
use crate::exit::Code;
use crate::session::Session;

/// Calls the tool, or the tools of a batch.
pub(super) async fn run(session: &Session, call: Call) -> Result<Code> {
    let files = call.save.as_deref().map(save::Folder::open).transpose()?;
    match (&call.batch, &call.tool) {
        (Some(source), _) => batch::run(session, source, files.as_ref(), call.limit).await,
        (None, Some(tool)) => single::run(session, tool, &call, files.as_ref()).await,
        (None, None) => Ok(Code::USAGE),
    }
}
