//! FROM of a query that is being resolved: databases of tables, and joins with conditions only.

use super::Resolver;
use super::names::{FromNames, or_own, plain};
use crate::bind::visible_after;
use crate::information_schema;
use inia_parser::ast::*;

impl Resolver<'_> {
    pub(super) fn table_ref(&mut self, table: &mut TableRef) -> FromNames {
        match table {
            TableRef::Table(factor) => self.table(factor),
            TableRef::Derived(derived) if derived.common.is_some() => self.common(derived),
            TableRef::Derived(derived) => {
                let hidden = match derived.lateral {
                    true => None,
                    false => Some(std::mem::take(&mut self.level().names)),
                };
                let names = self.query(&mut derived.query, true);
                if let Some(hidden) = hidden {
                    self.level().names = hidden;
                }
                plain((None, derived.alias.clone()), or_own(&derived.columns, names))
            }
            TableRef::List(list) => {
                let mut all = FromNames::default();
                for member in list {
                    let names = self.table_ref(member);
                    all.append(names);
                }
                all
            }
            TableRef::Join(join) => self.join(join),
            TableRef::JsonTable(table) => {
                self.expr(&mut table.doc);
                let mut names = Vec::new();
                table.for_each_name(&mut |name| names.push(name.to_owned()));
                plain((None, table.alias.clone()), names)
            }
        }
    }

    /// A common table expression where it is read, for EXPLAIN. In its own recursive operand it has
    /// no query.
    fn common(&mut self, derived: &mut DerivedTable) -> FromNames {
        let hidden = std::mem::take(&mut self.level().names);
        let name = derived.common.clone().unwrap_or_default();
        let own = match &mut derived.query.body {
            QueryBody::Values(rows) if rows.is_empty() => {
                let known = self.ctes.iter().rev().find(|(cte, _)| *cte == name);
                known.map_or_else(Vec::new, |(_, columns)| columns.clone())
            }
            QueryBody::SetOperation { first, rest } => {
                let names = self.body(first, true);
                self.ctes.push((name, or_own(&derived.columns, names.clone())));
                rest.iter_mut().for_each(|term| {
                    self.body(&mut term.body, true);
                });
                self.ctes.pop();
                names
            }
            _ => self.query(&mut derived.query, true),
        };
        self.level().names = hidden;
        plain((None, derived.alias.clone()), or_own(&derived.columns, own))
    }

    fn table(&mut self, factor: &mut TableFactor) -> FromNames {
        let TableFactor { name, alias, .. } = factor;
        if alias.as_ref() == Some(&name.name) {
            *alias = None;
        }
        if name.db.is_none()
            && let Some((_, columns)) = self.ctes.iter().rev().find(|(cte, _)| *cte == name.name)
        {
            let alias = alias.clone().unwrap_or_else(|| name.name.clone());
            return plain((None, alias), columns.clone());
        }
        let Some(schema) = name.db.clone().or_else(|| self.database.map(str::to_owned)) else {
            return FromNames::default();
        };
        name.db = Some(schema.clone());
        let qualifier = match alias {
            Some(alias) => (Some(schema.clone()).filter(|_| self.explained), alias.clone()),
            None => (Some(schema.clone()), name.name.clone()),
        };
        let mut names = FromNames::of(qualifier, &schema, self.columns(&schema, &name.name));
        names.origins = vec![Some((schema, name.name.clone()))];
        names
    }

    /// A table's or view's columns, each with whether `*` leaves it out.
    fn columns(&self, schema: &str, name: &str) -> Vec<(String, bool)> {
        let own = self.catalog.schemas.get(schema);
        if let Some(table) = own.and_then(|schema| schema.tables.get(name)) {
            return table.def.columns.iter().map(|c| (c.name.clone(), c.invisible)).collect();
        }
        if let Some(view) = own.and_then(|schema| schema.views.get(name)) {
            return view.def.columns.iter().map(|c| (c.name.clone(), false)).collect();
        }
        let computed = information_schema::find(schema, name);
        computed.map_or_else(Vec::new, |table| table.column_names())
    }

    fn join(&mut self, join: &mut Join) -> FromNames {
        let left = self.table_ref(&mut join.left);
        // A lateral member on the right may read the left side, whose names are known meanwhile.
        let saved = self.level().names.clone();
        self.level().names.append(left.clone());
        let right = self.table_ref(&mut join.right);
        self.level().names = saved;
        let shared = shared_columns(join, &left, &right);
        // Shared columns come from the side whose rows are all kept, in RIGHT JOIN the right one.
        let (mut first, second) = match join.kind {
            JoinKind::Right => (right, left),
            _ => (left, right),
        };
        let offset = first.names.tables.len();
        let visible = visible_after(&shared, &first.names, &second.names, offset);
        let used = &self.used;
        let mut equalities = shared.iter().filter_map(|name| {
            let bare = ColumnName::bare(name.clone());
            let pair = match join.kind {
                JoinKind::Right => (second.find(&bare, used)?, first.find(&bare, used)?),
                _ => (first.find(&bare, used)?, second.find(&bare, used)?),
            };
            Some(Expr::Binary {
                op: BinaryOp::Eq,
                left: Box::new(Expr::Column(pair.0)),
                right: Box::new(Expr::Column(pair.1)),
            })
        });
        let condition = match shared.len() {
            0 => None,
            1 => equalities.next(),
            _ => Some(Expr::And(equalities.collect())),
        };
        first.append(second);
        if let Some(visible) = visible {
            first.names.visible = visible;
        } else if join.kind == JoinKind::Right {
            // Without shared columns `*` follows the text, where the left side comes first.
            first.names.visible.sort_by_key(|&(table, _)| table < offset);
        }
        match (&mut join.constraint, condition) {
            (JoinConstraint::On(on), _) => {
                // ON sees the two sides, but no other member of FROM.
                let outer = std::mem::replace(&mut self.level().names, first.clone());
                self.expr(on);
                self.level().names = outer;
            }
            (constraint, Some(condition)) => *constraint = JoinConstraint::On(condition),
            (constraint, None) => *constraint = JoinConstraint::None,
        }
        join.natural = false;
        first
    }
}

/// The columns that USING names or NATURAL finds.
fn shared_columns(join: &Join, left: &FromNames, right: &FromNames) -> Vec<String> {
    if let JoinConstraint::Using(columns) = &join.constraint {
        return columns.clone();
    }
    if !join.natural {
        return Vec::new();
    }
    let names = left.names.visible.iter().map(|at| &left.names.column(*at).result.name);
    let both = names.filter(|name| right.names.find_shared(name, "").ok().flatten().is_some());
    both.cloned().collect()
}
