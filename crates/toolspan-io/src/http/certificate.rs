//! Which two facts do we read from a certificate ourselves: until when it is valid, and whether it
//! signed itself?
//!
//! Only the outer fields of DER (X.690) are walked, one after the other, within the slice. What is
//! not understood is `None`; whether a certificate is *trusted* is decided elsewhere.

use super::retry_after::days_since_1970;

const SEQUENCE: u8 = 0x30;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const VERSION: u8 = 0xa0;

/// What a certificate says of itself.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Facts {
    /// The end of its time as `2026-11-30`.
    pub(super) expires: String,
    /// The same in seconds since 1970.
    pub(super) expires_at: u64,
    /// Issuer and subject are the same.
    pub(super) self_signed: bool,
}

/// Reads a certificate (RFC 5280, section 4.1).
pub(super) fn facts(der: &[u8]) -> Option<Facts> {
    let (certificate, _) = element(der, SEQUENCE)?;
    let (mut fields, _) = element(certificate, SEQUENCE)?;
    if fields.first() == Some(&VERSION) {
        (_, fields) = any(fields)?;
    }
    let (_serial, fields) = any(fields)?;
    let (_algorithm, fields) = any(fields)?;
    let (issuer, fields) = element(fields, SEQUENCE)?;
    let (validity, fields) = element(fields, SEQUENCE)?;
    let (subject, _) = element(fields, SEQUENCE)?;
    let (_not_before, rest) = any(validity)?;
    let (expires, expires_at) = time(rest)?;
    Some(Facts {
        expires,
        expires_at,
        self_signed: issuer == subject,
    })
}

fn time(input: &[u8]) -> Option<(String, u64)> {
    let kind = *input.first()?;
    let (text, _) = any(input)?;
    let text = std::str::from_utf8(text).ok()?;
    let (year, rest) = match kind {
        UTC_TIME => {
            let year: u64 = text.get(..2)?.parse().ok()?;
            (year + if year < 50 { 2000 } else { 1900 }, text.get(2..)?)
        }
        GENERALIZED_TIME => (text.get(..4)?.parse().ok()?, text.get(4..)?),
        _ => return None,
    };
    let part = |from: usize| -> Option<u64> { rest.get(from..from + 2)?.parse().ok() };
    let (month, day) = (part(0)?, part(2)?);
    if year < 1970 || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let of_day = part(4)? * 3600 + part(6)? * 60 + part(8)?;
    let seconds = days_since_1970(year, month, day) * 86_400 + of_day;
    Some((format!("{year}-{month:02}-{day:02}"), seconds))
}

fn element(input: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    (*input.first()? == tag).then(|| any(input)).flatten()
}

/// The content of the first element and what follows it.
fn any(input: &[u8]) -> Option<(&[u8], &[u8])> {
    let (_tag, input) = input.split_first()?;
    let (first, input) = input.split_first()?;
    let (length, input) = if *first < 0x80 {
        (usize::from(*first), input)
    } else {
        // Three bytes of length are 16 MiB: more than a handshake can carry.
        let count = usize::from(first & 0x7f);
        if !(1..=3).contains(&count) {
            return None;
        }
        let (bytes, input) = input.split_at_checked(count)?;
        let length = bytes
            .iter()
            .fold(0, |length, byte| length << 8 | usize::from(*byte));
        (length, input)
    };
    input.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::facts;

    fn der(from: i32, until: i32) -> Vec<u8> {
        let mut params = rcgen::CertificateParams::new(vec!["a.test".to_owned()]).unwrap();
        params.not_before = rcgen::date_time_ymd(from, 1, 2);
        params.not_after = rcgen::date_time_ymd(until, 3, 4);
        let key = rcgen::KeyPair::generate().unwrap();
        params.self_signed(&key).unwrap().der().to_vec()
    }

    #[test]
    fn the_end_is_read_in_both_forms_of_time() {
        let near = facts(&der(2020, 2030)).unwrap();
        assert_eq!(near.expires, "2030-03-04");
        assert_eq!(near.expires_at, 1_898_812_800);
        assert!(near.self_signed);
        assert_eq!(facts(&der(2020, 2077)).unwrap().expires, "2077-03-04");
    }

    #[test]
    fn no_cut_or_changed_byte_makes_it_fail() {
        let whole = der(2020, 2030);
        for length in 0..whole.len() {
            let _ = facts(&whole[..length]);
        }
        for index in 0..whole.len() {
            for byte in [0, 0x30, 0x7f, 0x80, 0x84, 0xff] {
                let mut changed = whole.clone();
                changed[index] = byte;
                let _ = facts(&changed);
            }
        }
        assert_eq!(facts(b""), None);
        assert_eq!(facts(&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff]), None);
    }
}
