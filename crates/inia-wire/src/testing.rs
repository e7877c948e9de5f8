//! Seeded randomness for the decoders' tests: any bytes may come, none may panic.

pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() >> 11) as usize % n
    }

    /// Bytes of which small ones are frequent, so that lengths often fit.
    pub(crate) fn bytes(&mut self, max: usize) -> Vec<u8> {
        let len = self.below(max + 1);
        (0..len)
            .map(|_| {
                let byte = self.next() as u8;
                if self.below(2) == 0 { byte % 16 } else { byte }
            })
            .collect()
    }

    /// `bytes` with a few bytes changed, cut or doubled.
    pub(crate) fn damage(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut out = bytes.to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(out.len() + 1);
            match self.below(3) {
                0 if at < out.len() => out[at] = self.next() as u8,
                1 => out.truncate(at),
                _ => out.insert(at, self.next() as u8),
            }
        }
        out
    }
}
