//! What bytes do the parts of a raw text stand for?

use crate::placeholder::Placeholders;
use crate::script::decode_hex;
use crate::step::{Part, Raw};

/// How much of a repetition is written at a time, about, in bytes.
const BLOCK_BYTES: u64 = 64 << 10;

/// Writes the bytes of a raw step piece by piece; stops at the first piece that fails.
pub(crate) fn write_raw<E>(
    raw: &Raw,
    placeholders: &Placeholders,
    write: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    write_parts(&raw.parts, placeholders, write)?;
    if raw.newline { write(b"\n") } else { Ok(()) }
}

/// As [`write_raw`], without a newline.
pub(crate) fn write_parts<E>(
    parts: &[Part],
    placeholders: &Placeholders,
    write: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    for part in parts {
        match part {
            Part::Text(text) => write(placeholders.fill_raw(text).as_bytes())?,
            Part::Plain(text) => write(placeholders.fill_text(text).as_bytes())?,
            Part::Hex(digits) => write(&bytes(digits))?,
            Part::Repeat(repeat) => write_repeated(repeat.text.as_bytes(), repeat.times, write)?,
            Part::RepeatHex(repeat) => write_repeated(&bytes(&repeat.text), repeat.times, write)?,
        }
    }
    Ok(())
}

/// How many bytes [`write_raw`] writes.
pub(crate) fn raw_length(raw: &Raw, placeholders: &Placeholders) -> u64 {
    parts_length(&raw.parts, placeholders) + u64::from(raw.newline)
}

/// How many bytes [`write_parts`] writes.
pub(crate) fn parts_length(parts: &[Part], placeholders: &Placeholders) -> u64 {
    let length = |part: &Part| match part {
        Part::Text(text) => placeholders.fill_raw(text).len() as u64,
        Part::Plain(text) => placeholders.fill_text(text).len() as u64,
        Part::Hex(digits) => bytes(digits).len() as u64,
        Part::Repeat(repeat) => repeat.text.len() as u64 * repeat.times,
        Part::RepeatHex(repeat) => bytes(&repeat.text).len() as u64 * repeat.times,
    };
    parts.iter().map(length).sum()
}

/// The whole bytes of short parts, such as a header's value.
pub(crate) fn collect(parts: &[Part], placeholders: &Placeholders) -> Vec<u8> {
    let mut collected = Vec::new();
    let Ok(()) = write_parts::<std::convert::Infallible>(parts, placeholders, &mut |piece| {
        collected.extend_from_slice(piece);
        Ok(())
    });
    collected
}

/// The digits were checked when the script was read.
fn bytes(digits: &str) -> Vec<u8> {
    decode_hex(digits).unwrap_or_default()
}

/// Writes a text many times, in blocks.
fn write_repeated<E>(
    text: &[u8],
    times: u64,
    write: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let per_block = (BLOCK_BYTES / text.len().max(1) as u64).clamp(1, times.max(1));
    let block = text.repeat(usize::try_from(per_block).unwrap_or(1));
    for _ in 0..times / per_block {
        write(&block)?;
    }
    let rest = usize::try_from(times % per_block).unwrap_or_default() * text.len();
    write(block.get(..rest).unwrap_or_default())
}
