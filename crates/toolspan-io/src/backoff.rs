//! How long to wait before the next try?

use std::time::Duration;

use crate::process::unpredictable_bits;

/// Exponential backoff with full jitter: the nth delay is drawn evenly from zero up to
/// `base * factor^n`, and never above `cap`.
///
/// There is no clock inside: the caller waits. The same seed gives the same delays.
#[derive(Debug, Clone)]
pub struct Backoff {
    base: Duration,
    factor: u32,
    cap: Duration,
    ceiling: Duration,
    random: u64,
}

impl Backoff {
    /// Upper limit of the first delay: 250 ms.
    pub const BASE: Duration = Duration::from_millis(250);
    /// How much the limit grows with each try.
    pub const FACTOR: u32 = 2;
    /// The limit never grows above this: 30 s.
    pub const CAP: Duration = Duration::from_secs(30);

    /// Makes one with the default limits and a random seed.
    pub fn new() -> Self {
        Self::with_seed(unpredictable_bits())
    }

    /// Makes one with the default limits whose delays follow from `seed`.
    pub fn with_seed(seed: u64) -> Self {
        Self {
            base: Self::BASE,
            factor: Self::FACTOR,
            cap: Self::CAP,
            ceiling: Self::BASE,
            random: seed,
        }
    }

    /// Sets the upper limit of the first delay and starts over.
    #[must_use]
    pub fn with_base(mut self, base: Duration) -> Self {
        self.base = base;
        self.reset();
        self
    }

    /// Sets how much the limit grows with each try (0 counts as 1).
    #[must_use]
    pub fn with_factor(mut self, factor: u32) -> Self {
        self.factor = factor.max(1);
        self
    }

    /// Sets the limit that no delay exceeds.
    #[must_use]
    pub fn with_cap(mut self, cap: Duration) -> Self {
        self.cap = cap;
        self.reset();
        self
    }

    /// The delay before the next try.
    pub fn next_delay(&mut self) -> Duration {
        let delay = self.ceiling.mul_f64(self.next_fraction());
        self.ceiling = self.ceiling.saturating_mul(self.factor).min(self.cap);
        delay
    }

    /// Starts over from the base, after a success.
    pub fn reset(&mut self) {
        self.ceiling = self.base.min(self.cap);
    }

    /// The next fraction in `0.0..1.0` (SplitMix64, of which the upper 53 bits are used).
    fn next_fraction(&mut self) -> f64 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.random;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^= bits >> 31;
        let units = u32::try_from(bits >> 32).unwrap_or(u32::MAX);
        f64::from(units) / (f64::from(u32::MAX) + 1.0)
    }
}

impl Default for Backoff {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_delay_stays_under_a_limit_that_doubles_up_to_the_cap() {
        for seed in 0..200 {
            let mut backoff = Backoff::with_seed(seed);
            let mut limit = Backoff::BASE;
            for _ in 0..12 {
                assert!(backoff.next_delay() < limit);
                limit = (limit * 2).min(Backoff::CAP);
            }
        }
    }

    #[test]
    fn delays_are_spread_over_the_whole_range() {
        let firsts: Vec<Duration> = (0..1_000)
            .map(|seed| Backoff::with_seed(seed).next_delay())
            .collect();
        let below = firsts
            .iter()
            .filter(|delay| **delay < Backoff::BASE / 2)
            .count();
        assert!(
            (400..600).contains(&below),
            "{below} of 1000 in the lower half"
        );
        assert!(
            firsts
                .iter()
                .any(|delay| *delay > Backoff::BASE.mul_f64(0.98))
        );
        assert!(
            firsts
                .iter()
                .any(|delay| *delay < Backoff::BASE.mul_f64(0.02))
        );
    }

    #[test]
    fn the_same_seed_gives_the_same_delays() {
        let take = |mut backoff: Backoff| (0..8).map(|_| backoff.next_delay()).collect::<Vec<_>>();
        assert_eq!(take(Backoff::with_seed(7)), take(Backoff::with_seed(7)));
        assert_ne!(take(Backoff::with_seed(7)), take(Backoff::with_seed(8)));
        assert_ne!(take(Backoff::new()), take(Backoff::new()));
    }

    #[test]
    fn reset_starts_over_from_the_base() {
        let mut backoff = Backoff::with_seed(1);
        for _ in 0..10 {
            backoff.next_delay();
        }
        backoff.reset();
        assert!(backoff.next_delay() < Backoff::BASE);
    }

    #[test]
    fn a_cap_below_the_base_wins() {
        let mut backoff = Backoff::with_seed(1).with_cap(Duration::from_millis(10));
        for _ in 0..10 {
            assert!(backoff.next_delay() < Duration::from_millis(10));
        }
    }
}
