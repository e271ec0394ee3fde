//! When does a server want to be asked again?

use std::time::Duration;

/// Longest wait that a hint can ask for: one day. Longer ones are cut to it.
pub const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(86_400);

/// Reads the value of `Retry-After` (RFC 9110, section 10.2.3): seconds, or a date. `now` is the
/// time of day in seconds since 1970, best taken from the response's own `Date` by [`http_date`], so
/// that a wrong clock on either side does not matter. A date in the past means now; what is neither
/// is ignored. At most [`LONGEST_RETRY_AFTER`].
///
/// ```
/// use std::time::Duration;
/// use toolspan_io::http::retry_after;
/// assert_eq!(retry_after("7", None), Some(Duration::from_secs(7)));
/// assert_eq!(retry_after("soon", None), None);
/// ```
pub fn retry_after(value: &str, now: Option<u64>) -> Option<Duration> {
    let value = value.trim();
    let wait = if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // Only a number that is too large fails here.
        Duration::from_secs(value.parse().unwrap_or(u64::MAX))
    } else {
        Duration::from_secs(http_date(value)?.saturating_sub(now?))
    };
    Some(wait.min(LONGEST_RETRY_AFTER))
}

/// Reads a date as HTTP writes it (`Sun, 06 Nov 1994 08:49:37 GMT`, and the two old forms) into
/// seconds since 1970. None when it is not one, or is before 1970.
pub fn http_date(text: &str) -> Option<u64> {
    let words: Vec<&str> = text
        .split([' ', ',', '-'])
        .filter(|word| !word.is_empty())
        .take(8)
        .collect();
    match *words.as_slice() {
        // RFC 9110's own form, and RFC 850's with a year of two digits.
        [_, day, month, year, time, "GMT"] => seconds(year, month, day, time),
        // The form of C's `asctime`.
        [_, month, day, time, year] => seconds(year, month, day, time),
        _ => None,
    }
}

fn seconds(year: &str, month: &str, day: &str, time: &str) -> Option<u64> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let year = match (year.len(), number(year)?) {
        (2, short @ 0..70) => 2000 + short,
        (2, short) => 1900 + short,
        (4, year @ 1970..) => year,
        _ => return None,
    };
    let month = MONTHS.iter().position(|name| *name == month)? as u64 + 1;
    let day = number(day).filter(|day| (1..=31).contains(day))?;
    let mut parts = time.split(':').map(number);
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    Some(days_since_1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second)
}

fn number(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.len() <= 4 && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

/// Days from 1970-01-01 to a date of the Gregorian calendar, for years from 1970 on.
pub(super) fn days_since_1970(year: u64, month: u64, day: u64) -> u64 {
    // Years begin in March, so that the leap day is the last one.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let leap_days = year / 4 - year / 100 + year / 400;
    year * 365 + leap_days + (month * 153 + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::{LONGEST_RETRY_AFTER, http_date, retry_after};
    use std::time::Duration;

    #[test]
    fn seconds_are_taken_and_capped() {
        let second = Duration::from_secs;
        assert_eq!(retry_after("0", None), Some(second(0)));
        assert_eq!(retry_after(" 120 ", None), Some(second(120)));
        assert_eq!(retry_after("99999", None), Some(LONGEST_RETRY_AFTER));
        let endless = "9".repeat(40);
        assert_eq!(retry_after(&endless, None), Some(LONGEST_RETRY_AFTER));
    }

    #[test]
    fn a_date_counts_from_the_servers_own_now() {
        let now = http_date("Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(now, Some(784_111_777));
        let later = "Sun, 06 Nov 1994 08:50:07 GMT";
        assert_eq!(retry_after(later, now), Some(Duration::from_secs(30)));
        let past = "Sat, 05 Nov 1994 08:49:37 GMT";
        assert_eq!(retry_after(past, now), Some(Duration::ZERO));
        assert_eq!(retry_after(later, None), None);
    }

    #[test]
    fn all_three_forms_of_a_date_are_read() {
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
        ] {
            assert_eq!(http_date(text), Some(784_111_777), "{text}");
        }
        assert_eq!(http_date("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(
            http_date("Thu, 29 Feb 2024 12:00:00 GMT"),
            Some(1_709_208_000)
        );
        assert_eq!(
            http_date("Mon, 30 Nov 2026 15:42:52 GMT"),
            Some(1_796_053_372)
        );
    }

    #[test]
    fn garbage_is_ignored() {
        for text in [
            "",
            "abc",
            "-1",
            "1.5",
            "1e3",
            "0x10",
            "Sun, 06 Nov 1994",
            "Sun, 06 Foo 1994 08:49:37 GMT",
            "Sun, 99 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 25:49:37 GMT",
            "Sun, 06 Nov 1960 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 06 Nov 99999 08:49:37 GMT",
            "é, 06 Nov 1994 08:49 GMT",
        ] {
            assert_eq!(retry_after(text, Some(0)), None, "{text:?}");
        }
    }
}
