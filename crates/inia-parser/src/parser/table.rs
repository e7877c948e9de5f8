//! FROM: tables, derived tables, joins and JSON_TABLE.

use super::{MAX_JOINS, PResult, Parser, SUBQUERY_WEIGHT};
use crate::{
    ParseError,
    ast::{
        DerivedTable, IndexHint, IndexHintKind, IndexHintScope, Join, JoinConstraint, JoinKind,
        JsonTable, JsonTableColumn, ObjectName, Query, TableFactor, TableRef,
    },
    keyword::Kw,
    lexer::Tok,
};

/// What a parenthesis in FROM held.
enum Paren {
    Query(Box<Query>),
    Tables(TableRef),
}

impl Parser<'_> {
    /// `a, b JOIN c …`.
    #[inline(never)]
    pub(super) fn table_refs(&mut self) -> PResult<Vec<TableRef>> {
        self.list(Self::table_ref)
    }

    /// A table with the joins after it.
    #[inline(never)]
    fn table_ref(&mut self) -> PResult<TableRef> {
        let left = self.nested(Self::table_factor)?;
        self.joins(left)
    }

    #[cold]
    fn too_many_tables(&self) -> Box<ParseError> {
        let message = "Too many tables; MySQL can only use 61 tables in a join";
        self.other(1116, "HY000", message.to_string())
    }

    #[inline(never)]
    fn joins(&mut self, mut left: TableRef) -> PResult<TableRef> {
        let mut count = 0;
        while let Some((kind, natural)) = self.join_operator()? {
            count += 1;
            if count > MAX_JOINS {
                return Err(self.too_many_tables());
            }
            let mut right = self.nested(Self::table_factor)?;
            let outer = matches!(kind, JoinKind::Left | JoinKind::Right) && !natural;
            if outer && !self.is_kw(Kw::ON) && !self.is_kw(Kw::USING) {
                // `a LEFT JOIN b JOIN c ON … ON …`: the inner join belongs to the right side.
                right = self.nested(|p| p.inner_joins(right))?;
            }
            let constraint = if natural { JoinConstraint::None } else { self.join_constraint()? };
            if outer && constraint == JoinConstraint::None {
                return Err(self.error());
            }
            left = TableRef::Join(Box::new(Join { kind, natural, left, right, constraint }));
            while self.at_join_on() {
                left = self.late_constraint(left)?;
            }
        }
        Ok(left)
    }

    /// Joins that stand before the condition of an outer one: up to the condition that is left.
    #[inline(never)]
    fn inner_joins(&mut self, mut left: TableRef) -> PResult<TableRef> {
        while let Some((kind, natural)) = self.join_operator()? {
            let mut right = self.nested(Self::table_factor)?;
            if !natural && !self.at_join_on() && !self.is_kw(Kw::USING) {
                right = self.nested(|p| p.inner_joins(right))?;
            }
            let constraint = if natural { JoinConstraint::None } else { self.join_constraint()? };
            left = TableRef::Join(Box::new(Join { kind, natural, left, right, constraint }));
        }
        Ok(left)
    }

    /// ON, but not ON DUPLICATE KEY.
    fn at_join_on(&mut self) -> bool {
        self.is_kw(Kw::ON) && !self.peek_is_kw(Kw::DUPLICATE)
    }

    /// A second ON: `a JOIN b JOIN c ON x ON y` is `a JOIN (b JOIN c ON x) ON y`.
    #[inline(never)]
    fn late_constraint(&mut self, tree: TableRef) -> PResult<TableRef> {
        let TableRef::Join(top) = tree else { return Err(self.error()) };
        let TableRef::Join(inner) = top.left else { return Err(self.error()) };
        if inner.constraint != JoinConstraint::None || inner.natural {
            return Err(self.error());
        }
        let right = TableRef::Join(Box::new(Join { left: inner.right, ..*top }));
        let constraint = self.join_constraint()?;
        Ok(TableRef::Join(Box::new(Join {
            kind: inner.kind,
            natural: false,
            left: inner.left,
            right,
            constraint,
        })))
    }

    /// The join words, or `None` where no join follows.
    fn join_operator(&mut self) -> PResult<Option<(JoinKind, bool)>> {
        let natural = self.accept_kw(Kw::NATURAL);
        let kind = match self.kw() {
            Kw::STRAIGHT_JOIN if !natural => {
                self.bump();
                return Ok(Some((JoinKind::Straight, false)));
            }
            Kw::JOIN => JoinKind::Inner,
            Kw::INNER => {
                self.bump();
                JoinKind::Inner
            }
            Kw::CROSS if !natural => {
                self.bump();
                JoinKind::Inner
            }
            Kw::LEFT | Kw::RIGHT => {
                let left = self.bump().kw == Kw::LEFT;
                self.accept_kw(Kw::OUTER);
                if left { JoinKind::Left } else { JoinKind::Right }
            }
            _ if natural => return Err(self.error()),
            _ => return Ok(None),
        };
        self.expect_kw(Kw::JOIN)?;
        Ok(Some((kind, natural)))
    }

    fn join_constraint(&mut self) -> PResult<JoinConstraint> {
        if self.at_join_on() {
            self.bump();
            return Ok(JoinConstraint::On(self.expr()?));
        }
        if self.accept_kw(Kw::USING) {
            return Ok(JoinConstraint::Using(self.ident_list()?));
        }
        Ok(JoinConstraint::None)
    }

    #[inline(never)]
    fn table_factor(&mut self) -> PResult<TableRef> {
        match self.kind() {
            Tok::LParen => {
                return match self.table_paren()? {
                    Paren::Query(query) => self.derived(*query, false),
                    Paren::Tables(tables) => Ok(tables),
                };
            }
            Tok::LBrace => {
                self.bump();
                self.expect_oj()?;
                let inner = self.table_ref()?;
                self.expect(Tok::RBrace)?;
                return Ok(inner);
            }
            _ => {}
        }
        if self.accept_kw(Kw::LATERAL) {
            let query = self.subquery()?;
            return self.derived(*query, true);
        }
        if self.is_kw(Kw::JSON_TABLE) {
            return self.json_table();
        }
        Ok(TableRef::Table(Box::new(self.named_table()?)))
    }

    #[inline(never)]
    fn expect_oj(&mut self) -> PResult<()> {
        let word = self.ident()?;
        if word.eq_ignore_ascii_case("oj") { Ok(()) } else { Err(self.error()) }
    }

    /// `name [PARTITION (…)] [[AS] alias] [hints]`.
    pub(super) fn named_table(&mut self) -> PResult<TableFactor> {
        let name = self.object_name()?;
        let partitions = self.opt_partitions()?;
        let alias = self.alias(false)?;
        let hints = self.index_hints()?;
        Ok(TableFactor { name, partitions, alias, hints })
    }

    #[inline(never)]
    pub(super) fn opt_partitions(&mut self) -> PResult<Vec<String>> {
        if self.accept_kw(Kw::PARTITION) { self.ident_list() } else { Ok(Vec::new()) }
    }

    #[inline(never)]
    fn index_hints(&mut self) -> PResult<Vec<IndexHint>> {
        let mut hints = Vec::new();
        loop {
            let kind = match self.kw() {
                Kw::USE => IndexHintKind::Use,
                Kw::FORCE => IndexHintKind::Force,
                Kw::IGNORE => IndexHintKind::Ignore,
                _ => return Ok(hints),
            };
            self.bump();
            self.expect_any(&[Kw::INDEX, Kw::KEY])?;
            let mut scope = None;
            if self.accept_kw(Kw::FOR) {
                scope = Some(match self.expect_any(&[Kw::JOIN, Kw::ORDER, Kw::GROUP])? {
                    Kw::JOIN => IndexHintScope::Join,
                    kw => {
                        self.expect_kw(Kw::BY)?;
                        if kw == Kw::ORDER {
                            IndexHintScope::OrderBy
                        } else {
                            IndexHintScope::GroupBy
                        }
                    }
                });
            }
            self.expect(Tok::LParen)?;
            let indexes = if kind == IndexHintKind::Use && self.is(Tok::RParen) {
                Vec::new()
            } else {
                self.list(Self::index_name)?
            };
            self.expect(Tok::RParen)?;
            hints.push(IndexHint { kind, scope, indexes });
        }
    }

    /// An index name, or PRIMARY.
    pub(super) fn index_name(&mut self) -> PResult<String> {
        if self.accept_kw(Kw::PRIMARY) { Ok("PRIMARY".to_string()) } else { self.ident() }
    }

    /// `[AS] alias [(columns)]` after a derived table.
    #[inline(never)]
    fn derived(&mut self, query: Query, lateral: bool) -> PResult<TableRef> {
        let Some(alias) = self.alias(false)? else {
            let message = "Every derived table must have its own alias".to_string();
            return Err(self.other(1248, "42000", message));
        };
        let columns = if self.is(Tok::LParen) { self.ident_list()? } else { Vec::new() };
        Ok(TableRef::Derived(Box::new(DerivedTable {
            lateral,
            query,
            alias,
            columns,
            common: None,
        })))
    }

    /// `( … )` in FROM: a query, a join, or a list of tables. Which one is known only inside:
    /// `((SELECT 1) AS a)` is tables, `((SELECT 1) UNION SELECT 2)` a query.
    #[inline(never)]
    fn table_paren(&mut self) -> PResult<Paren> {
        self.expect(Tok::LParen)?;
        if self.at_query() {
            let query = self.nested_by(SUBQUERY_WEIGHT, Self::query)?;
            self.no_into(query.into.as_ref())?;
            self.expect(Tok::RParen)?;
            return Ok(Paren::Query(Box::new(query)));
        }
        let first = if self.is(Tok::LParen) {
            match self.nested(Self::table_paren)? {
                Paren::Query(query) if self.is(Tok::RParen) => {
                    self.bump();
                    return Ok(Paren::Query(query));
                }
                Paren::Query(query) if self.at_query_tail() => {
                    let query = self.nested_by(SUBQUERY_WEIGHT, |p| p.query_after_paren(*query))?;
                    self.expect(Tok::RParen)?;
                    return Ok(Paren::Query(Box::new(query)));
                }
                Paren::Query(query) => self.derived(*query, false)?,
                Paren::Tables(tables) => tables,
            }
        } else {
            self.nested(Self::table_factor)?
        };
        let first = self.joins(first)?;
        if !self.is(Tok::Comma) {
            self.expect(Tok::RParen)?;
            return Ok(Paren::Tables(first));
        }
        let mut list = vec![first];
        while self.accept(Tok::Comma) {
            list.push(self.table_ref()?);
        }
        self.expect(Tok::RParen)?;
        Ok(Paren::Tables(TableRef::List(list)))
    }

    #[inline(never)]
    fn json_table(&mut self) -> PResult<TableRef> {
        self.bump();
        self.expect(Tok::LParen)?;
        let doc = self.expr()?;
        self.expect(Tok::Comma)?;
        let path = self.string()?;
        let columns = self.json_table_columns()?;
        self.expect(Tok::RParen)?;
        let Some(alias) = self.alias(false)? else {
            let message = "Every table function must have an alias".to_string();
            return Err(self.other(3667, "42000", message));
        };
        Ok(TableRef::JsonTable(Box::new(JsonTable { doc, path, columns, alias })))
    }

    #[inline(never)]
    fn json_table_columns(&mut self) -> PResult<Vec<JsonTableColumn>> {
        self.expect_kw(Kw::COLUMNS)?;
        self.nested(|p| p.paren_list(Self::json_table_column))
    }

    fn json_table_column(&mut self) -> PResult<JsonTableColumn> {
        if self.accept_kw(Kw::NESTED) {
            self.expect_kw(Kw::PATH)?;
            let path = self.string()?;
            return Ok(JsonTableColumn::Nested { path, columns: self.json_table_columns()? });
        }
        let name = self.ident()?;
        if self.accept_kw(Kw::FOR) {
            self.expect_kw(Kw::ORDINALITY)?;
            return Ok(JsonTableColumn::Ordinality(name));
        }
        let mut ty = self.type_spec()?;
        self.type_collation(&mut ty)?;
        let exists = self.accept_kw(Kw::EXISTS);
        self.expect_kw(Kw::PATH)?;
        let path = self.string()?;
        let (on_empty, on_error) = self.on_empty_on_error(true)?;
        Ok(JsonTableColumn::Path { name, ty, exists, path, on_empty, on_error })
    }

    /// Names of tables, at least one.
    #[inline(never)]
    pub(super) fn object_names(&mut self) -> PResult<Vec<ObjectName>> {
        self.list(Self::object_name)
    }
}
