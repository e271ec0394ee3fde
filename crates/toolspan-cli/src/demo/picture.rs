//! How is a small picture made without an image library? A PNG (ISO/IEC 15948) of two colours.

/// Width and height in pixels.
const SIDE: u32 = 32;

/// A PNG of a ring: 1 bit a pixel, stored without compression.
pub(super) fn ring() -> Vec<u8> {
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut header = Vec::new();
    header.extend(SIDE.to_be_bytes());
    header.extend(SIDE.to_be_bytes());
    // One bit a pixel, colours from a palette, then the standard's only choices.
    header.extend([1, 3, 0, 0, 0]);
    chunk(&mut png, *b"IHDR", &header);
    chunk(&mut png, *b"PLTE", &[0xf6, 0xf1, 0xe7, 0x1f, 0x6f, 0x8b]);
    chunk(&mut png, *b"IDAT", &stored(&rows()));
    chunk(&mut png, *b"IEND", &[]);
    png
}

/// The pixels: for each row a filter byte of 0, then 8 pixels a byte.
fn rows() -> Vec<u8> {
    let middle = i64::from(SIDE) - 1;
    let is_ring = |x: u32, y: u32| {
        let (dx, dy) = (2 * i64::from(x) - middle, 2 * i64::from(y) - middle);
        (15 * 15..=28 * 28).contains(&(dx * dx + dy * dy))
    };
    let byte =
        |y, first: u32| (first..first + 8).fold(0u8, |bits, x| bits << 1 | u8::from(is_ring(x, y)));
    (0..SIDE)
        .flat_map(|y| std::iter::once(0).chain((0..SIDE / 8).map(move |part| byte(y, part * 8))))
        .collect()
}

/// A zlib stream (RFC 1950) of one stored block (RFC 1951, section 3.2.4); at most 65,535 bytes.
fn stored(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
    let mut stream = vec![0x78, 0x01, 0x01];
    stream.extend(length.to_le_bytes());
    stream.extend((!length).to_le_bytes());
    stream.extend(bytes);
    let (low, high) = bytes.iter().fold((1u32, 0u32), |(low, high), byte| {
        let low = (low + u32::from(*byte)) % 65_521;
        (low, (high + low) % 65_521)
    });
    stream.extend((high << 16 | low).to_be_bytes());
    stream
}

fn chunk(png: &mut Vec<u8>, kind: [u8; 4], data: &[u8]) {
    let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
    png.extend(length.to_be_bytes());
    png.extend(kind);
    png.extend(data);
    png.extend(crc(kind.iter().chain(data)).to_be_bytes());
}

/// The CRC of a chunk (ISO/IEC 15948, section 5.5).
fn crc<'a>(bytes: impl Iterator<Item = &'a u8>) -> u32 {
    !bytes.fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            if crc & 1 == 1 {
                0xedb8_8320 ^ (crc >> 1)
            } else {
                crc >> 1
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_sum_is_the_one_of_the_standard() {
        assert_eq!(crc(b"123456789".iter()), 0xcbf4_3926);
        assert_eq!(crc(b"IEND".iter()), 0xae42_6082);
    }

    #[test]
    fn the_picture_begins_and_ends_as_a_png_does() {
        let png = ring();
        assert!(png.starts_with(b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"));
        assert!(png.ends_with(b"\0\0\0\0IEND\xae\x42\x60\x82"));
        assert_eq!(rows().len(), 32 * 5);
    }
}
