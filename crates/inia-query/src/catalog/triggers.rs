//! The triggers of a table.

use super::{ProgramKind, Schema, StoredProgram};
use inia_parser::ast::TriggerEvent;
use std::sync::Arc;

/// A table's triggers, by time and event, each list in the order in which they fire.
#[derive(Clone, Debug, Default)]
pub struct TableTriggers {
    lists: Option<Box<[Vec<Arc<StoredProgram>>; 6]>>,
}

fn place(before: bool, event: TriggerEvent) -> usize {
    let event = match event {
        TriggerEvent::Insert => 0,
        TriggerEvent::Update => 1,
        TriggerEvent::Delete => 2,
    };
    2 * event + usize::from(!before)
}

impl TableTriggers {
    /// The triggers that a database has for a table.
    pub(super) fn of(schema: &Schema, table: &str) -> TableTriggers {
        let mut found = TableTriggers::default();
        let from = (ProgramKind::Trigger, String::new());
        for program in schema.programs.range(from..).map(|(_, program)| program) {
            let Some(head) = program.def.trigger.as_ref().filter(|head| head.table == table) else {
                continue;
            };
            let lists = found.lists.get_or_insert_default();
            lists[place(head.before, head.event)].push(program.clone());
        }
        for list in found.lists.iter_mut().flat_map(|lists| lists.iter_mut()) {
            list.sort_by_key(|program| program.def.trigger.as_ref().map(|head| head.order));
        }
        found
    }

    /// Whether there are none at all.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.lists.is_none()
    }

    /// Those of a time and an event.
    pub fn of_event(&self, before: bool, event: TriggerEvent) -> &[Arc<StoredProgram>] {
        self.lists.as_ref().map_or(&[], |lists| &lists[place(before, event)])
    }

    /// Whether there are any of an event.
    pub(crate) fn on(&self, event: TriggerEvent) -> bool {
        [true, false].iter().any(|before| !self.of_event(*before, event).is_empty())
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &Arc<StoredProgram>> {
        self.lists.iter().flat_map(|lists| lists.iter().flatten())
    }
}
