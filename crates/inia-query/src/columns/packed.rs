//! Columns in few bytes: whole numbers as their differences from the least one, texts by their
//! number in a dictionary where a segment has few different ones.

use inia_expr::tree::CmpOp;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::ops::Range;

/// One column of a segment's rows.
#[derive(Clone, Debug)]
pub(crate) enum CachedColumn {
    Numbers(PackedNumbers),
    Texts(PackedTexts),
}

impl CachedColumn {
    /// How many bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        size_of::<CachedColumn>()
            + match self {
                CachedColumn::Numbers(numbers) => numbers.bytes(),
                CachedColumn::Texts(texts) => texts.bytes(),
            }
    }

    /// The column of some rows.
    pub(super) fn slice(&self, rows: Range<usize>) -> CachedColumn {
        match self {
            CachedColumn::Numbers(numbers) => {
                let mut values = Vec::with_capacity(rows.len());
                numbers.append_to(rows.clone(), &mut values);
                CachedColumn::Numbers(PackedNumbers::new(&values, numbers.nulls_of(rows)))
            }
            CachedColumn::Texts(texts) => {
                let texts: Vec<_> = rows.map(|row| texts.get(row)).collect();
                CachedColumn::Texts(PackedTexts::new(&texts))
            }
        }
    }
}

/// Numbers of 64 bits, of which some stand for NULL.
#[derive(Clone, Debug)]
pub(crate) struct PackedNumbers {
    low: i64,
    high: i64,
    /// What each number is above `low`.
    above: Above,
    /// Which rows are NULL; empty where none is.
    nulls: Box<[bool]>,
}

#[derive(Clone, Debug)]
enum Above {
    /// All numbers are the least one.
    Nothing,
    Bytes(Box<[u8]>),
    Words(Box<[u16]>),
    DoubleWords(Box<[u32]>),
    QuadWords(Box<[u64]>),
}

impl PackedNumbers {
    /// Packs a number for each row. Numbers that stand for NULL are packed, too.
    pub(crate) fn new(values: &[i64], nulls: &[bool]) -> PackedNumbers {
        debug_assert!(nulls.is_empty() || nulls.len() == values.len(), "one flag for each row");
        let low = values.iter().copied().min().unwrap_or_default();
        let high = values.iter().copied().max().unwrap_or_default();
        let above = values.iter().map(|value| value.wrapping_sub(low) as u64);
        let above = match high.wrapping_sub(low) as u64 {
            0 => Above::Nothing,
            1..=0xff => Above::Bytes(above.map(|above| above as u8).collect()),
            0x100..=0xffff => Above::Words(above.map(|above| above as u16).collect()),
            0x1_0000..=0xffff_ffff => Above::DoubleWords(above.map(|above| above as u32).collect()),
            _ => Above::QuadWords(above.collect()),
        };
        PackedNumbers { low, high, above, nulls: nulls.into() }
    }

    /// Least and greatest number; those that stand for NULL are among them.
    pub(crate) fn bounds(&self) -> (i64, i64) {
        (self.low, self.high)
    }

    /// Whether any row is NULL.
    pub(crate) fn has_nulls(&self) -> bool {
        !self.nulls.is_empty()
    }

    /// Which of some rows are NULL; empty where none of the column is.
    pub(crate) fn nulls_of(&self, rows: Range<usize>) -> &[bool] {
        if self.nulls.is_empty() { &[] } else { &self.nulls[rows] }
    }

    /// Appends the numbers of some rows.
    pub(crate) fn append_to(&self, rows: Range<usize>, out: &mut Vec<i64>) {
        let low = self.low;
        match &self.above {
            Above::Nothing => out.resize(out.len() + rows.len(), low),
            Above::Bytes(all) => out.extend(all[rows].iter().map(|&above| low + i64::from(above))),
            Above::Words(all) => out.extend(all[rows].iter().map(|&above| low + i64::from(above))),
            Above::DoubleWords(all) => {
                out.extend(all[rows].iter().map(|&above| low.wrapping_add(i64::from(above))));
            }
            Above::QuadWords(all) => {
                out.extend(all[rows].iter().map(|&above| low.wrapping_add(above as i64)));
            }
        }
    }

    /// Appends what `of` makes of whether `number op constant` holds, for each of some rows.
    pub(crate) fn compare<T: Copy>(
        &self,
        rows: Range<usize>,
        (op, constant): (CmpOp, i128),
        of: impl Fn(bool) -> T,
        out: &mut Vec<T>,
    ) {
        let above = constant - i128::from(self.low);
        match &self.above {
            Above::Nothing => out.resize(out.len() + rows.len(), of(op.holds(0.cmp(&above)))),
            Above::Bytes(all) => compare(&all[rows], op, above, of, out),
            Above::Words(all) => compare(&all[rows], op, above, of, out),
            Above::DoubleWords(all) => compare(&all[rows], op, above, of, out),
            Above::QuadWords(all) => compare(&all[rows], op, above, of, out),
        }
    }

    /// The number of a row, or what stands for NULL.
    #[inline]
    pub(crate) fn get(&self, row: usize) -> i64 {
        let above = match &self.above {
            Above::Nothing => 0,
            Above::Bytes(all) => all[row].into(),
            Above::Words(all) => all[row].into(),
            Above::DoubleWords(all) => all[row].into(),
            Above::QuadWords(all) => all[row],
        };
        self.low.wrapping_add(above as i64)
    }

    /// Whether a row is NULL.
    #[inline]
    pub(crate) fn is_null(&self, row: usize) -> bool {
        !self.nulls.is_empty() && self.nulls[row]
    }

    pub(super) fn bytes(&self) -> usize {
        let above = match &self.above {
            Above::Nothing => 0,
            Above::Bytes(all) => size_of_val(&**all),
            Above::Words(all) => size_of_val(&**all),
            Above::DoubleWords(all) => size_of_val(&**all),
            Above::QuadWords(all) => size_of_val(&**all),
        };
        above + self.nulls.len()
    }
}

/// Appends what `of` makes of whether `number op constant` holds, for all numbers of one width.
fn compare<N: Copy + Ord + TryFrom<i128>, T: Copy>(
    all: &[N],
    op: CmpOp,
    constant: i128,
    of: impl Fn(bool) -> T,
    out: &mut Vec<T>,
) {
    let Ok(constant) = N::try_from(constant) else {
        // The constant is less than all numbers of this width, or greater.
        let ordering = 0.cmp(&constant);
        return out.resize(out.len() + all.len(), of(op.holds(ordering)));
    };
    // Each operator has a loop of its own, without a choice for each row.
    match op {
        CmpOp::Eq => out.extend(all.iter().map(|number| of(*number == constant))),
        CmpOp::Lt => out.extend(all.iter().map(|number| of(*number < constant))),
        CmpOp::Le => out.extend(all.iter().map(|number| of(*number <= constant))),
        CmpOp::Gt => out.extend(all.iter().map(|number| of(*number > constant))),
        CmpOp::Ge => out.extend(all.iter().map(|number| of(*number >= constant))),
        _ => out.extend(all.iter().map(|number| of(op.holds(number.cmp(&constant))))),
    }
}

/// Texts, of which some are NULL.
#[derive(Clone, Debug)]
pub(crate) struct PackedTexts {
    /// The texts, or those of the dictionary, one behind the other.
    text: Box<[u8]>,
    /// Where each of them ends.
    ends: Box<[u32]>,
    /// The number of each row's text in the dictionary; empty where there is none.
    codes: Box<[u8]>,
    /// Which rows are NULL, where there is no dictionary; empty where none is.
    nulls: Box<[bool]>,
}

type Hasher = BuildHasherDefault<std::hash::DefaultHasher>;

impl PackedTexts {
    /// The code of NULL.
    pub(crate) const NULL_CODE: u8 = u8::MAX;

    /// Packs a text for each row; `None` is NULL.
    pub(crate) fn new(texts: &[Option<&[u8]>]) -> PackedTexts {
        PackedTexts::with_dictionary(texts).unwrap_or_else(|| PackedTexts::plain(texts))
    }

    fn with_dictionary(texts: &[Option<&[u8]>]) -> Option<PackedTexts> {
        let most = (texts.len() / 2).min(usize::from(PackedTexts::NULL_CODE) - 1);
        let mut numbers: HashMap<&[u8], u8, Hasher> = HashMap::default();
        let (mut text, mut ends) = (Vec::new(), Vec::new());
        let mut codes = Vec::with_capacity(texts.len());
        for row in texts {
            let Some(row) = row else {
                codes.push(PackedTexts::NULL_CODE);
                continue;
            };
            let next = numbers.len();
            let code = *numbers.entry(row).or_insert_with(|| {
                text.extend_from_slice(row);
                ends.push(text.len() as u32);
                next as u8
            });
            if numbers.len() > most {
                return None;
            }
            codes.push(code);
        }
        let (codes, nulls) = (codes.into(), Box::default());
        Some(PackedTexts { text: text.into(), ends: ends.into(), codes, nulls })
    }

    fn plain(texts: &[Option<&[u8]>]) -> PackedTexts {
        let (mut text, mut ends) = (Vec::new(), Vec::with_capacity(texts.len()));
        for row in texts {
            text.extend_from_slice(row.unwrap_or_default());
            ends.push(text.len() as u32);
        }
        let nulls: Vec<bool> = match texts.contains(&None) {
            true => texts.iter().map(Option::is_none).collect(),
            false => Vec::new(),
        };
        let codes = Box::default();
        PackedTexts { text: text.into(), ends: ends.into(), codes, nulls: nulls.into() }
    }

    /// The text of a row; `None` for NULL.
    #[inline]
    pub(crate) fn get(&self, row: usize) -> Option<&[u8]> {
        let at = match self.codes.get(row) {
            Some(&PackedTexts::NULL_CODE) => return None,
            Some(&code) => usize::from(code),
            None if !self.nulls.is_empty() && self.nulls[row] => return None,
            None => row,
        };
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        Some(&self.text[start..self.ends[at] as usize])
    }

    /// The entry of each row, [`PackedTexts::NULL_CODE`] for NULL; `None` where rows share none.
    pub(crate) fn codes(&self) -> Option<&[u8]> {
        (!self.codes.is_empty()).then_some(&*self.codes)
    }

    /// The texts of the dictionary.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(&0).chain(&*self.ends);
        self.ends.iter().zip(starts).map(|(end, start)| &self.text[*start as usize..*end as usize])
    }

    fn bytes(&self) -> usize {
        self.text.len() + size_of_val(&*self.ends) + self.codes.len() + self.nulls.len()
    }
}
