//! What time is it, as text? RFC 3339 in UTC, without a time zone database.

use std::time::{SystemTime, UNIX_EPOCH};

/// The current time, such as `2026-08-02T10:15:30Z`.
#[expect(
    clippy::disallowed_methods,
    reason = "the tool tells the time of the system's clock"
)]
pub(super) fn now() -> String {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    written(since.as_secs())
}

/// Seconds since 1970-01-01 as text. The calendar is counted in years that begin in March, so that
/// a leap day is the last day of its year.
fn written(seconds: u64) -> String {
    /// Days of 400 years, after which the calendar repeats itself.
    const ERA: u64 = 146_097;
    /// Days from 0000-03-01 to 1970-01-01.
    const BEFORE_1970: u64 = 719_468;
    let days = seconds / 86_400 + BEFORE_1970;
    let day_of_era = days % ERA;
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = days / ERA * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments_are_written_right() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (1_785_622_530, "2026-08-01T22:15:30Z"),
        ] {
            assert_eq!(written(seconds), text);
        }
    }
}
