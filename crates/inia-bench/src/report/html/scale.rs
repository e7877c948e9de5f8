//! From values to places on a chart, and which values are worth a line.

/// How values are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScaleKind {
    /// Equal steps for equal differences.
    Linear,
    /// Equal steps for equal ratios.
    Log,
}

/// An axis: values between `low` and `high` lie between `from` and `to`.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    kind: ScaleKind,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    ticks: Vec<f64>,
}

impl Scale {
    /// From 0 to a round number that is not less than `most`.
    pub(super) fn from_zero(most: f64, from: f64, to: f64) -> Scale {
        let most = if most.is_finite() && most > 0.0 { most } else { 1.0 };
        let rough = most / 4.0;
        let unit = 10f64.powf(rough.log10().floor());
        let factor = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().find(|f| f * unit >= rough * 0.999);
        let step = factor.unwrap_or(10.0) * unit;
        let steps = (most / step * 0.999).ceil().max(1.0);
        let ticks = (0..=steps as usize).map(|n| n as f64 * step).collect();
        Scale { kind: ScaleKind::Linear, low: 0.0, high: steps * step, from, to, ticks }
    }

    /// Over several powers of ten (or less); zero has no place and is drawn at the low end.
    pub(super) fn log(low: f64, high: f64, from: f64, to: f64) -> Scale {
        let low = if low.is_finite() && low > 0.0 { low } else { 1.0 };
        let high = if high.is_finite() { high.max(low * 1.01) } else { low * 10.0 };
        let marks: &[f64] = match (high / low).log10() {
            span if span <= 1.6 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
        let all = decades.flat_map(|decade| marks.iter().map(move |m| m * 10f64.powi(decade)));
        let all: Vec<f64> = all.collect();
        let low = all.iter().copied().rfind(|tick| *tick <= low * 1.001).unwrap_or(low);
        let high = all.iter().copied().find(|tick| *tick >= high * 0.999).unwrap_or(high);
        let ticks = all.into_iter().filter(|tick| (low..=high * 1.0001).contains(tick)).collect();
        Scale { kind: ScaleKind::Log, low, high, from, to, ticks }
    }

    /// From the first to the last of these values, which are marked where there is room.
    pub(super) fn of_values(
        kind: ScaleKind,
        values: &[f64],
        apart: f64,
        from: f64,
        to: f64,
    ) -> Scale {
        let low = values.first().copied().unwrap_or(1.0);
        let high = values.last().copied().unwrap_or(low);
        let mut scale = Scale { kind, low, high, from, to, ticks: Vec::new() };
        // From the end: the greatest number is the one to read.
        let mut last = f64::INFINITY;
        for &value in values.iter().rev() {
            if (last - scale.at(value)).abs() >= apart {
                last = scale.at(value);
                scale.ticks.insert(0, value);
            }
        }
        // The ends are always worth a line: the least takes the place of its neighbour.
        if let Some(first) = scale.ticks.first_mut() {
            *first = low;
        }
        scale
    }

    /// With these values marked instead.
    pub(super) fn marked(self, ticks: Vec<f64>) -> Scale {
        Scale { ticks, ..self }
    }

    /// Where a value lies.
    pub(super) fn at(&self, value: f64) -> f64 {
        let share = match self.kind {
            _ if self.high <= self.low => 0.5,
            ScaleKind::Linear => (value - self.low) / (self.high - self.low),
            ScaleKind::Log => (value.max(self.low) / self.low).ln() / (self.high / self.low).ln(),
        };
        self.from + (self.to - self.from) * share
    }

    /// The values worth a line.
    pub(super) fn ticks(&self) -> &[f64] {
        &self.ticks
    }
}
