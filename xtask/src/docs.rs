//! How is the book in `docs/` built?

use crate::failure::Failure;
use crate::process::Run;
use crate::talk;
use crate::workspace::Workspace;

/// Builds the book into `docs/book/`. Its links are checked by `cargo xtask tidy`.
pub(crate) fn run(workspace: &Workspace) -> Result<(), Failure> {
    let built = Run::new("mdbook")
        .args(["build", "docs"])
        .in_folder(workspace.root())
        .seen();
    match built {
        Err(Failure::Missing { program, .. }) => Err(Failure::Missing {
            program,
            remedy: "install it with `cargo install mdbook`, or read the pages in docs/src/ as \
                     they are"
                .to_owned(),
        }),
        Ok(()) => {
            talk::line("built: docs/book/index.html");
            Ok(())
        }
        Err(other) => Err(other),
    }
}
