//! How is a contestant timed?
//!
//! A round is many calls of one contestant; its figure is the median call's time, or calls per
//! second. All contestants take turns, round by round, so that a busy machine is busy for all.

use std::time::{Duration, Instant};

use tokio::runtime::Runtime;

use crate::failure::Failure;

/// Calls under way at once in the rows about throughput.
pub(crate) const IN_FLIGHT: usize = 64;

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Effort {
    /// Turns of each contestant.
    pub(crate) rounds: usize,
    /// Calls one after another in a round.
    pub(crate) calls: usize,
    /// Calls one after another in a round from Python.
    pub(crate) calls_python: usize,
    /// Calls of each of the [`IN_FLIGHT`] callers in a round.
    pub(crate) calls_each: usize,
}

impl Effort {
    /// Enough for medians that hold.
    pub(crate) const FULL: Self = Self {
        rounds: 61,
        calls: 400,
        calls_python: 200,
        calls_each: 50,
    };
    /// Enough to see that everything runs.
    pub(crate) const QUICK: Self = Self {
        rounds: 1,
        calls: 20,
        calls_python: 5,
        calls_each: 2,
    };

    /// Calls of all callers in a round.
    pub(crate) fn calls_in_flight(self) -> usize {
        self.calls_each * IN_FLIGHT
    }
}

/// A client that can be called; clones mean the same connection.
pub(crate) trait Client: Clone + Send + 'static {
    /// Makes one call and looks at its answer.
    fn call(&self) -> impl Future<Output = Result<(), Failure>> + Send;
}

/// How long each call of a round took.
pub(crate) struct Times(Vec<Duration>);

impl Times {
    /// Room for a round, so that none is made while it runs.
    pub(crate) fn with_room(calls: usize) -> Self {
        Self(Vec::with_capacity(calls))
    }

    /// Adds a call that began then and ends now.
    pub(crate) fn add(&mut self, began: Instant) {
        self.0.push(began.elapsed());
    }

    /// The median call's time in microseconds.
    pub(crate) fn median(mut self) -> f64 {
        self.0.sort_unstable();
        let median = self.0.get(self.0.len() / 2).copied();
        median.unwrap_or_default().as_secs_f64() * 1e6
    }
}

/// The median time of calls one after another, in microseconds.
pub(crate) fn one_by_one(
    calls: usize,
    mut call: impl FnMut() -> Result<(), Failure>,
) -> Result<f64, Failure> {
    let mut times = Times::with_room(calls);
    for _ in 0..calls {
        let began = Instant::now();
        call()?;
        times.add(began);
    }
    Ok(times.median())
}

/// [`one_by_one`] for an asynchronous client, called from a task.
pub(crate) fn one_by_one_async(
    runtime: &Runtime,
    client: &impl Client,
    calls: usize,
) -> Result<f64, Failure> {
    let client = client.clone();
    let caller = runtime.spawn(async move {
        let mut times = Times::with_room(calls);
        for _ in 0..calls {
            let began = Instant::now();
            client.call().await?;
            times.add(began);
        }
        Ok(times.median())
    });
    runtime.block_on(caller)?
}

/// Calls per second of [`IN_FLIGHT`] tasks that each call one time after another.
pub(crate) fn in_flight(
    runtime: &Runtime,
    client: &impl Client,
    effort: Effort,
) -> Result<f64, Failure> {
    runtime.block_on(async {
        let began = Instant::now();
        let callers: Vec<_> = (0..IN_FLIGHT)
            .map(|_| {
                let client = client.clone();
                tokio::spawn(async move {
                    for _ in 0..effort.calls_each {
                        client.call().await?;
                    }
                    Ok::<(), Failure>(())
                })
            })
            .collect();
        for caller in callers {
            caller.await??;
        }
        Ok(per_second(effort.calls_in_flight(), began.elapsed()))
    })
}

/// Calls per second.
#[expect(clippy::cast_precision_loss, reason = "counts of calls are small")]
pub(crate) fn per_second(calls: usize, time: Duration) -> f64 {
    calls as f64 / time.as_secs_f64()
}

/// The least, the median and the greatest of some figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) least: f64,
    pub(crate) median: f64,
    pub(crate) most: f64,
}

impl Spread {
    /// Of nothing, all are not a number.
    pub(crate) fn of(figures: impl IntoIterator<Item = f64>) -> Self {
        let mut figures: Vec<f64> = figures.into_iter().collect();
        figures.sort_unstable_by(f64::total_cmp);
        let at = |index: usize| figures.get(index).copied().unwrap_or(f64::NAN);
        Self {
            least: at(0),
            median: at(figures.len() / 2),
            most: at(figures.len().saturating_sub(1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_is_found_in_any_order() {
        let spread = Spread::of([3.0, 1.0, 2.0, 9.0, 2.5]);
        assert_eq!(
            spread,
            Spread {
                least: 1.0,
                median: 2.5,
                most: 9.0
            }
        );
        assert!(Spread::of([]).median.is_nan());
    }
}
