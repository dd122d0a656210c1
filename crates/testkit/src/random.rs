//! A source of choices: small, seeded, the same on every machine.

/// The seed of this run: `PROPTEST_RNG_SEED`, or another one each time.
pub fn seed() -> u64 {
    let chosen = std::env::var("PROPTEST_RNG_SEED").ok().and_then(|seed| seed.parse().ok());
    chosen.unwrap_or_else(|| std::time::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs()))
}

/// Choices; each seed is a case.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The choices of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Any number.
    #[expect(clippy::should_implement_trait, reason = "it never ends")]
    pub fn next(&mut self) -> u64 {
        // SplitMix64: small, and good enough to choose by.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap_or_default()
    }

    /// Yes, once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of several.
    ///
    /// # Panics
    /// If there is none.
    pub fn of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        choices.get(self.below(choices.len())).expect("choices are not empty")
    }
}
