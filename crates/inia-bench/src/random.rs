//! Seeded randomness: the generator, and the distributions by which clients choose rows.

use std::f64;
use std::fmt;
use std::str::FromStr;

/// A small, fast generator (xoshiro256++). Equal seeds give equal numbers.
#[derive(Clone, Debug)]
pub struct Rng {
    state: [u64; 4],
}

/// Spreads a seed's bits (splitmix64).
fn mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Rng {
    /// The generator of a seed.
    pub fn new(seed: u64) -> Rng {
        let mut from = seed;
        Rng { state: std::array::from_fn(|_| mix(&mut from)) }
    }

    /// The n-th of a seed's independent generators: one per client, one per loaded row.
    pub fn stream(seed: u64, n: u64) -> Rng {
        let (mut a, mut b) = (seed, n ^ 0x6a09_e667_f3bc_c908);
        Rng::new(mix(&mut a) ^ mix(&mut b).rotate_left(32))
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Uniform in [0, 1).
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in 0..n; 0 if n is 0.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
    }

    /// Uniform in low..=high.
    #[inline]
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low) as u64 + 1) as i64
    }

    /// True in this share of the calls.
    pub fn chance(&mut self, share: f64) -> bool {
        self.unit() < share
    }

    /// Appends the template with each `#` made a digit and each `@` a small letter.
    pub fn fill(&mut self, template: &str, out: &mut String) {
        for letter in template.chars() {
            out.push(match letter {
                '#' => char::from(b'0' + self.below(10) as u8),
                '@' => char::from(b'a' + self.below(26) as u8),
                other => other,
            });
        }
    }

    /// Appends that many letters and digits.
    pub fn letters(&mut self, count: usize, out: &mut String) {
        const LETTERS: &[u8; 62] =
            b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
        out.extend((0..count).map(|_| char::from(LETTERS[self.below(62) as usize])));
    }

    /// Puts the items in random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}

/// How rows are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// All rows alike.
    Uniform,
    /// sysbench's: `res` per cent of the choices fall on `pct` per cent of the rows, in the
    /// middle; the others are the mean of `iterations` uniform choices.
    Special {
        /// Share of the rows that are special, in per cent.
        pct: f64,
        /// Share of the choices that are special, in per cent.
        res: f64,
        /// Uniform numbers in each mean.
        iterations: u32,
    },
    /// Row n is chosen in proportion to 1 / n^theta.
    Zipfian {
        /// How steep.
        theta: f64,
    },
}

impl Distribution {
    /// sysbench's defaults of `--rand-spec-pct`, `--rand-spec-res` and `--rand-spec-iter`.
    pub const SPECIAL: Distribution = Distribution::Special { pct: 1.0, res: 75.0, iterations: 12 };
    /// sysbench's default of `--rand-zipfian-exp`.
    pub const ZIPFIAN: Distribution = Distribution::Zipfian { theta: 0.8 };

    /// A chooser among 1..=n.
    pub fn picker(self, n: u64) -> Picker {
        let n = n.max(1);
        let zipf = match self {
            Distribution::Zipfian { theta } => Some(Zipf::new(n, theta)),
            _ => None,
        };
        Picker { distribution: self, n, zipf }
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Distribution::Uniform => f.write_str("uniform"),
            Distribution::SPECIAL => f.write_str("special"),
            Distribution::Special { pct, res, .. } => write!(f, "special:{pct}:{res}"),
            Distribution::ZIPFIAN => f.write_str("zipfian"),
            Distribution::Zipfian { theta } => write!(f, "zipfian:{theta}"),
        }
    }
}

impl FromStr for Distribution {
    type Err = String;

    /// Reads `uniform`, `special`, `special:PCT:RES`, `zipfian` or `zipfian:THETA`.
    fn from_str(text: &str) -> Result<Distribution, String> {
        let mut parts = text.split(':');
        let name = parts.next().unwrap_or_default();
        let numbers: Vec<f64> = parts
            .map(|part| part.parse().map_err(|_| format!("'{part}' is not a number in '{text}'")))
            .collect::<Result<_, String>>()?;
        match (name, numbers.as_slice()) {
            ("uniform", []) => Ok(Distribution::Uniform),
            ("special", []) => Ok(Distribution::SPECIAL),
            ("special", &[pct, res])
                if (0.0..=100.0).contains(&pct) && (0.0..100.0).contains(&res) =>
            {
                Ok(Distribution::Special { pct, res, iterations: 12 })
            }
            ("zipfian", []) => Ok(Distribution::ZIPFIAN),
            ("zipfian", &[theta]) if theta > 0.0 => Ok(Distribution::Zipfian { theta }),
            _ => Err(format!(
                "unknown distribution '{text}': choose uniform, special[:PCT:RES] or \
                 zipfian[:THETA]"
            )),
        }
    }
}

/// Chooses rows 1..=n by a distribution.
#[derive(Clone, Debug)]
pub struct Picker {
    distribution: Distribution,
    n: u64,
    zipf: Option<Zipf>,
}

impl Picker {
    /// The next row's number.
    #[inline]
    pub fn pick(&self, rng: &mut Rng) -> i64 {
        let chosen = match (self.distribution, &self.zipf) {
            (Distribution::Zipfian { .. }, Some(zipf)) => zipf.pick(rng),
            (Distribution::Special { pct, res, iterations }, _) => {
                special(rng, self.n, pct, res, iterations)
            }
            _ => 1 + rng.below(self.n),
        };
        chosen.clamp(1, self.n) as i64
    }

    /// How many rows there are to choose from.
    pub fn rows(&self) -> u64 {
        self.n
    }
}

/// As sysbench 1.0: one uniform number decides between the two parts and places the special row,
/// so that the first (100 - res) per cent of the special rows are never hit.
fn special(rng: &mut Rng, n: u64, pct: f64, res: f64, iterations: u32) -> u64 {
    let width = (n - 1) as f64;
    let first = rng.unit();
    if first < (100.0 - res) / 100.0 {
        let sum: f64 = (0..iterations).map(|_| rng.unit()).sum();
        return 1 + (sum * width / f64::from(iterations)) as u64;
    }
    let hot = width * pct / 100.0;
    1 + (first * (hot + 1.0) + width / 2.0 - hot / 2.0) as u64
}

/// Zipf by rejection-inversion (Hörmann and Derflinger 1996): constant time and memory for any n.
#[derive(Clone, Debug)]
struct Zipf {
    n: f64,
    theta: f64,
    /// Integral of the hat up to 1.5, less the first row's weight.
    low: f64,
    /// Integral of the hat up to n + 0.5.
    high: f64,
    /// Below this distance from its rounded value a number is accepted without another look.
    near: f64,
}

impl Zipf {
    fn new(n: u64, theta: f64) -> Zipf {
        let mut zipf = Zipf { n: n as f64, theta, low: 0.0, high: 0.0, near: 0.0 };
        zipf.low = zipf.integral(1.5) - 1.0;
        zipf.high = zipf.integral(zipf.n + 0.5);
        zipf.near = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.weight(2.0));
        zipf
    }

    fn weight(&self, x: f64) -> f64 {
        x.powf(-self.theta)
    }

    /// (x^(1-theta) - 1) / (1 - theta), and ln x where theta is 1.
    fn integral(&self, x: f64) -> f64 {
        let power = 1.0 - self.theta;
        if power.abs() < 1e-9 { x.ln() } else { (x.powf(power) - 1.0) / power }
    }

    fn inverse(&self, y: f64) -> f64 {
        let power = 1.0 - self.theta;
        if power.abs() < 1e-9 {
            y.exp()
        } else {
            (1.0 + y * power).max(f64::MIN_POSITIVE).powf(1.0 / power)
        }
    }

    fn pick(&self, rng: &mut Rng) -> u64 {
        loop {
            let u = self.high + rng.unit() * (self.low - self.high);
            let x = self.inverse(u);
            let k = (x + 0.5).floor().clamp(1.0, self.n);
            if k - x <= self.near || u >= self.integral(k + 0.5) - self.weight(k) {
                return k as u64;
            }
        }
    }
}

#[cfg(test)]
mod tests;
