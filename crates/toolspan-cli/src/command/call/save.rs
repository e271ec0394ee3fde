//! Where do images, audio and blobs go? To new files in the folder of `--save`.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use toolspan::observation::{Resource, ResourceBody};
use toolspan::{Content, Error, ErrorKind, Observation, Outcome, Phase, Result};

use super::arguments::usage;

/// Files of one tool in one folder.
const MOST_FILES: usize = 100_000;

/// What a file is called after, by media type; anything else is `bin`.
const EXTENSIONS: &[(&str, &str)] = &[
    ("image/png", "png"),
    ("image/jpeg", "jpg"),
    ("image/gif", "gif"),
    ("image/webp", "webp"),
    ("image/svg+xml", "svg"),
    ("image/bmp", "bmp"),
    ("image/tiff", "tiff"),
    ("image/avif", "avif"),
    ("audio/wav", "wav"),
    ("audio/x-wav", "wav"),
    ("audio/mpeg", "mp3"),
    ("audio/ogg", "ogg"),
    ("audio/flac", "flac"),
    ("video/mp4", "mp4"),
    ("application/pdf", "pdf"),
    ("application/zip", "zip"),
    ("application/gzip", "gz"),
    ("application/json", "json"),
    ("text/plain", "txt"),
    ("text/csv", "csv"),
    ("text/html", "html"),
];

/// A folder that files are written to.
#[derive(Debug)]
pub(super) struct Folder(PathBuf);

impl Folder {
    /// Makes the folder if it is not there: before the call, so that no result is lost for it.
    ///
    /// # Errors
    ///
    /// `usage` when it cannot be made.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let made = fs::create_dir_all(path);
        made.map_err(|error| usage(format!("cannot save to {}: {error}", path.display())))?;
        Ok(Self(path.to_owned()))
    }

    /// Writes what is binary in an answer; gives the path for each block, where there is one.
    ///
    /// # Errors
    ///
    /// `internal` when a file cannot be written, `protocol` when the data is no base64.
    pub(super) fn save(
        &self,
        tool: &str,
        observation: &Observation,
    ) -> Result<Vec<Option<String>>> {
        let mut names = Names {
            folder: &self.0,
            tool,
            next: 1,
        };
        let mut paths = Vec::with_capacity(observation.content.len());
        for block in &observation.content {
            paths.push(match binary(block) {
                None => None,
                Some((data, media_type)) => {
                    let bytes = STANDARD.decode(data).map_err(|_| not_base64(block))?;
                    let written = names.write_new(extension(media_type), &bytes);
                    Some(written.map_err(|error| self.not_written(&error))?)
                }
            });
        }
        Ok(paths)
    }

    fn not_written(&self, error: &io::Error) -> Error {
        let message = format!(
            "the tool answered, but saving to {} failed: {error}",
            self.0.display()
        );
        Error::new(ErrorKind::Internal, Phase::Observe, message).with_outcome(Outcome::Answered)
    }
}

/// The names of one tool's files: `TOOL-1.png`, `TOOL-2.wav`. The exposed name of a tool has no
/// character that means something in a path.
struct Names<'a> {
    folder: &'a Path,
    tool: &'a str,
    next: usize,
}

impl Names<'_> {
    /// Writes a file of the next free number. A file that is there is never touched.
    fn write_new(&mut self, extension: &str, bytes: &[u8]) -> io::Result<String> {
        while self.next <= MOST_FILES {
            let path = self
                .folder
                .join(format!("{}-{}.{extension}", self.tool, self.next));
            self.next += 1;
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(mut file) => {
                    file.write_all(bytes)?;
                    return Ok(path.display().to_string());
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other(format!(
            "{MOST_FILES} files of this tool are there already"
        )))
    }
}

/// The base64 of a block and its media type, if it is binary.
fn binary(block: &Content) -> Option<(&str, &str)> {
    match block {
        Content::Image(blob) | Content::Audio(blob) => Some((&blob.data, &blob.mime_type)),
        Content::Resource(Resource {
            body: ResourceBody::Blob(data),
            mime_type,
            ..
        }) => Some((data, mime_type.as_deref().unwrap_or_default())),
        _ => None,
    }
}

fn not_base64(block: &Content) -> Error {
    let message = format!(
        "the tool answered, but this is not base64: {}",
        block.summary()
    );
    Error::new(ErrorKind::Protocol, Phase::Observe, message).with_outcome(Outcome::Answered)
}

fn extension(media_type: &str) -> &'static str {
    let essence = media_type
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_lowercase();
    let known = EXTENSIONS.iter().find(|(known, _)| *known == essence);
    known.map_or("bin", |(_, extension)| extension)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_there_is_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let files = Folder::open(&folder.path().join("new/deep")).unwrap();
        let seen = Observation::text_of("x")
            .with_content(Content::image("AAAA", "image/PNG; q=1"))
            .with_content(Content::image("/w==", "../../etc"));
        let names = |paths: Vec<Option<String>>| -> Vec<String> {
            let names = paths
                .iter()
                .flatten()
                .map(|path| Path::new(path).file_name().unwrap());
            names
                .map(|name| name.to_string_lossy().into_owned())
                .collect()
        };
        assert_eq!(
            names(files.save("t", &seen).unwrap()),
            ["t-1.png", "t-2.bin"]
        );
        assert_eq!(
            names(files.save("t", &seen).unwrap()),
            ["t-2.png", "t-3.bin"]
        );
        assert_eq!(fs::read(files.0.join("t-2.bin")).unwrap(), [0xff]);
    }

    #[test]
    fn data_that_is_no_base64_is_an_error_that_says_the_tool_answered() {
        let folder = tempfile::tempdir().unwrap();
        let seen = Observation::text_of("x").with_content(Content::image("%%", "image/png"));
        let error = Folder::open(folder.path())
            .unwrap()
            .save("t", &seen)
            .unwrap_err();
        assert_eq!(
            (error.kind(), error.outcome()),
            (ErrorKind::Protocol, Outcome::Answered)
        );
    }
}
