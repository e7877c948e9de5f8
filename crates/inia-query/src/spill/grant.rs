//! What one operator may hold of its session's memory.

use super::{Result, Workspace};

/// So much is held without asking: small operators, and so most statements, count nothing.
const FREE: usize = 64 << 10;
/// The least that is taken at once.
const STEP: usize = 256 << 10;

/// The memory of one operator; given back when dropped.
pub struct Grant<'w> {
    workspace: Workspace<'w>,
    /// Bytes that may be held, those beyond [`FREE`] taken from the session.
    granted: usize,
}

impl<'w> Grant<'w> {
    /// What every operator may hold.
    pub fn new(workspace: Workspace<'w>) -> Grant<'w> {
        Grant { workspace, granted: FREE }
    }

    /// Whether the operator may hold so many bytes. Where it may not, it puts aside what comes.
    #[inline]
    pub(crate) fn allows(&mut self, used: usize) -> bool {
        used <= self.workspace.budget && (used <= self.granted || self.grow(used))
    }

    /// Takes memory for data that cannot be put aside; error 3170 when memory is used up.
    #[inline]
    pub(crate) fn require(&mut self, used: usize) -> Result<()> {
        match self.grant(used) {
            true => Ok(()),
            false => self.demand(used),
        }
    }

    /// Takes memory for data that cannot be put aside; false when memory is used up.
    pub fn grant(&mut self, used: usize) -> bool {
        used <= self.granted || self.grow(used)
    }

    #[cold]
    fn grow(&mut self, used: usize) -> bool {
        let ample = used.saturating_add((self.granted / 2).max(STEP));
        match self.workspace.memory {
            None => self.granted = ample,
            Some(memory) => {
                let fits = [ample, used]
                    .into_iter()
                    .find(|wanted| memory.take((wanted - self.granted) as u64));
                let Some(granted) = fits else { return false };
                self.granted = granted;
            }
        }
        true
    }

    #[cold]
    fn demand(&mut self, used: usize) -> Result<()> {
        if let Some(memory) = self.workspace.memory {
            memory.demand((used - self.granted) as u64, "statement")?;
        }
        self.granted = used;
        Ok(())
    }
}

impl Drop for Grant<'_> {
    fn drop(&mut self) {
        if let Some(memory) = self.workspace.memory {
            memory.give((self.granted - FREE) as u64);
        }
    }
}
