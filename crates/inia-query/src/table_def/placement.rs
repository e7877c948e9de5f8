//! Where a column is kept, as far as MySQL lets one say so.

/// STORAGE and COLUMN_FORMAT: MySQL keeps and shows them, and only its NDB engine acts on them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Placement {
    /// STORAGE, where it is not DEFAULT.
    pub storage: Option<ColumnStorage>,
    /// COLUMN_FORMAT, where it is not DEFAULT.
    pub format: Option<ColumnFormat>,
}

/// STORAGE of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ColumnStorage {
    /// DISK.
    Disk,
    /// MEMORY.
    Memory,
}

/// COLUMN_FORMAT.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ColumnFormat {
    /// FIXED.
    Fixed,
    /// DYNAMIC.
    Dynamic,
}

impl Placement {
    /// Two bits for STORAGE, and above them two for COLUMN_FORMAT.
    pub(crate) fn bits(self) -> u64 {
        let storage = match self.storage {
            None => 0,
            Some(ColumnStorage::Disk) => 1,
            Some(ColumnStorage::Memory) => 2,
        };
        let format = match self.format {
            None => 0,
            Some(ColumnFormat::Fixed) => 1,
            Some(ColumnFormat::Dynamic) => 2,
        };
        storage | format << 2
    }

    /// What [`Placement::bits`] gave; `None` for other bits.
    pub(crate) fn of_bits(bits: u64) -> Option<Placement> {
        let storage = match bits & 3 {
            0 => None,
            1 => Some(ColumnStorage::Disk),
            2 => Some(ColumnStorage::Memory),
            _ => return None,
        };
        let format = match bits >> 2 {
            0 => None,
            1 => Some(ColumnFormat::Fixed),
            2 => Some(ColumnFormat::Dynamic),
            _ => return None,
        };
        Some(Placement { storage, format })
    }
}
