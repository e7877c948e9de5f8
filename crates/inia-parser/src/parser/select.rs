//! Queries: SELECT, VALUES, TABLE, set operations, WITH, and the clauses around them.

use super::remark::without_comments;
use super::{PResult, Parser, SUBQUERY_WEIGHT, utf8};
use crate::{
    ParseError,
    ast::{
        Cte, Expr, FileFormat, IntoTarget, Limit, LockStrength, LockWait, Locking, OrderItem,
        Query, QueryBody, Select, SelectInto, SelectItem, SetOp, SetTerm, With,
    },
    keyword::Kw,
    lexer::Tok,
};

impl Parser<'_> {
    /// True where a query begins (not counting parentheses).
    pub(super) fn at_query(&mut self) -> bool {
        match self.kw() {
            Kw::SELECT | Kw::WITH | Kw::TABLE => true,
            Kw::VALUES => self.peek_is_kw(Kw::ROW),
            _ => false,
        }
    }

    /// True where a clause stands that can only follow a query in parentheses.
    pub(super) fn at_query_tail(&self) -> bool {
        matches!(
            self.tok.kw,
            Kw::UNION | Kw::INTERSECT | Kw::EXCEPT | Kw::ORDER | Kw::LIMIT | Kw::FOR
        )
    }

    /// A query expression.
    #[inline(never)]
    pub(super) fn query(&mut self) -> PResult<Query> {
        let with = self.opt_with()?;
        self.query_with(with)
    }

    /// A query expression whose WITH has been read.
    #[inline(never)]
    pub(super) fn query_with(&mut self, with: Option<With>) -> PResult<Query> {
        let (first, into) = self.query_primary()?;
        self.query_rest(with, first, into)
    }

    /// What follows a query that stood in parentheses.
    #[inline(never)]
    pub(super) fn query_after_paren(&mut self, query: Query) -> PResult<Query> {
        self.query_rest(None, QueryBody::Nested(Box::new(query)), None)
    }

    #[inline(never)]
    fn query_rest(
        &mut self,
        with: Option<With>,
        first: QueryBody,
        mut into: Option<SelectInto>,
    ) -> PResult<Query> {
        let mut query = Query::new(self.set_operations(first, &mut into)?);
        query.with = with;
        query.into = into;
        self.query_tail(&mut query)?;
        let bare = query.with.is_none()
            && query.order_by.is_empty()
            && query.limit.is_none()
            && query.locking.is_empty()
            && query.into.is_none();
        match query.body {
            QueryBody::Nested(inner) if bare => Ok(*inner),
            body => Ok(Query { body, ..query }),
        }
    }

    /// Error 3954 for an INTO that is not at the end of a statement.
    pub(super) fn no_into(&self, into: Option<&SelectInto>) -> PResult<()> {
        if into.is_none() {
            return Ok(());
        }
        let message = "Misplaced INTO clause, INTO is not allowed inside subqueries, and must be \
                       placed at end of UNION clauses.";
        Err(self.other(3954, "HY000", message.to_owned()))
    }

    /// Error 3953.
    fn second_into(&self) -> Box<ParseError> {
        let message = "Multiple INTO clauses in one query block.";
        self.other(3953, "HY000", message.to_owned())
    }

    /// An operand behind the first one, whose INTO takes the place of none.
    fn later_operand(&mut self, into: &mut Option<SelectInto>) -> PResult<QueryBody> {
        const WITHIN: &str = "The INTO clause is deprecated inside query blocks of query \
                              expressions and will be removed in a future release. Please move \
                              the INTO clause to the end of statement instead.";
        self.no_into(into.as_ref())?;
        let (mut body, mut own) = self.query_primary()?;
        if let QueryBody::Nested(query) = &mut body
            && query.into.is_some()
        {
            own = query.into.take();
            self.remark(3962, WITHIN);
        }
        *into = own;
        Ok(body)
    }

    /// The operators after `first`. The last operand's INTO is the whole query's.
    #[inline(never)]
    fn set_operations(
        &mut self,
        first: QueryBody,
        into: &mut Option<SelectInto>,
    ) -> PResult<QueryBody> {
        let first = self.intersections(first, into)?;
        let mut rest = Vec::new();
        while let Some(kw) = self.accept_any(&[Kw::UNION, Kw::EXCEPT]) {
            let op = if kw == Kw::UNION { SetOp::Union } else { SetOp::Except };
            let all = self.set_quantifier();
            self.no_into_within(&first)?;
            let body = self.later_operand(into)?;
            let body = self.intersections(body, into)?;
            rest.push(SetTerm { op, all, body });
        }
        if rest.is_empty() {
            return Ok(first);
        }
        Ok(QueryBody::SetOperation { first: Box::new(first), rest })
    }

    #[inline(never)]
    fn intersections(
        &mut self,
        first: QueryBody,
        into: &mut Option<SelectInto>,
    ) -> PResult<QueryBody> {
        let mut rest = Vec::new();
        while self.accept_kw(Kw::INTERSECT) {
            let all = self.set_quantifier();
            self.no_into_within(&first)?;
            let body = self.later_operand(into)?;
            rest.push(SetTerm { op: SetOp::Intersect, all, body });
        }
        if rest.is_empty() {
            return Ok(first);
        }
        Ok(QueryBody::SetOperation { first: Box::new(first), rest })
    }

    /// Error 3954 where the first operand is a query in parentheses with INTO.
    fn no_into_within(&self, first: &QueryBody) -> PResult<()> {
        match first {
            QueryBody::Nested(query) => self.no_into(query.into.as_ref()),
            _ => Ok(()),
        }
    }

    fn set_quantifier(&mut self) -> bool {
        self.accept_any(&[Kw::ALL, Kw::DISTINCT]) == Some(Kw::ALL)
    }

    #[inline(never)]
    fn query_primary(&mut self) -> PResult<(QueryBody, Option<SelectInto>)> {
        if self.is(Tok::LParen) {
            self.bump();
            let query = self.nested_by(SUBQUERY_WEIGHT, Self::query)?;
            self.expect(Tok::RParen)?;
            return Ok((QueryBody::Nested(Box::new(query)), None));
        }
        match self.kw() {
            Kw::SELECT => self.select(),
            Kw::TABLE => {
                self.bump();
                Ok((QueryBody::Table(self.object_name()?), None))
            }
            Kw::VALUES => {
                self.bump();
                let rows = self.list(|p| {
                    p.expect_kw(Kw::ROW)?;
                    p.value_row()
                })?;
                Ok((QueryBody::Values(rows), None))
            }
            _ => Err(self.error()),
        }
    }

    /// `(a, DEFAULT, …)`, possibly empty.
    #[inline(never)]
    pub(super) fn value_row(&mut self) -> PResult<Vec<Expr>> {
        self.expect(Tok::LParen)?;
        let mut row = Vec::new();
        if !self.is(Tok::RParen) {
            loop {
                row.push(self.expr_or_default()?);
                if !self.accept(Tok::Comma) {
                    break;
                }
            }
        }
        self.expect(Tok::RParen)?;
        Ok(row)
    }

    /// An expression or the word DEFAULT.
    pub(super) fn expr_or_default(&mut self) -> PResult<Expr> {
        if self.is_kw(Kw::DEFAULT) && self.peek().tok != Tok::LParen {
            self.bump();
            return Ok(Expr::Default);
        }
        self.expr()
    }

    #[inline(never)]
    pub(super) fn opt_with(&mut self) -> PResult<Option<With>> {
        if !self.accept_kw(Kw::WITH) {
            return Ok(None);
        }
        let number = self.block_number();
        let recursive = self.accept_kw(Kw::RECURSIVE);
        let ctes = self.list(|p| {
            let name = p.new_ident()?;
            let columns = if p.is(Tok::LParen) { p.ident_list()? } else { Vec::new() };
            p.expect_kw(Kw::AS)?;
            Ok(Cte { name, columns, query: *p.subquery()? })
        })?;
        self.next_block = Some(number);
        Ok(Some(With { recursive, ctes }))
    }

    /// SELECT up to WINDOW, and an INTO before FROM.
    #[inline(never)]
    fn select(&mut self) -> PResult<(QueryBody, Option<SelectInto>)> {
        self.expect_kw(Kw::SELECT)?;
        let timed = std::mem::take(&mut self.top_select);
        let (number, hints) = (self.block_number(), self.opt_hints(timed));
        let mut select = Select::default();
        self.select_options(&mut select)?;
        select.items = self.select_list()?;
        let into = self.opt_into()?;
        if self.accept_kw(Kw::FROM) && !self.accept_kw(Kw::DUAL) {
            select.from = self.table_refs()?;
        }
        select.where_ = self.opt_where()?;
        if self.accept_kw(Kw::GROUP) {
            self.expect_kw(Kw::BY)?;
            select.group_by = self.list(Self::expr)?;
            select.rollup = self.accept_pair(Kw::WITH, Kw::ROLLUP);
        }
        if self.accept_kw(Kw::HAVING) {
            select.having = Some(self.expr()?);
        }
        if self.accept_kw(Kw::WINDOW) {
            select.windows = self.list(|p| {
                let name = p.ident()?;
                p.expect_kw(Kw::AS)?;
                Ok((name, p.window_spec()?))
            })?;
        }
        select.hints = self.block_hints(number, hints);
        Ok((QueryBody::Select(Box::new(select)), into))
    }

    #[inline(never)]
    fn select_options(&mut self, select: &mut Select) -> PResult<()> {
        let options = &mut select.options;
        let mut all = false;
        loop {
            match self.kw() {
                Kw::ALL => all = true,
                Kw::DISTINCT | Kw::DISTINCTROW => options.distinct = true,
                Kw::HIGH_PRIORITY => options.high_priority = true,
                Kw::STRAIGHT_JOIN => options.straight_join = true,
                Kw::SQL_SMALL_RESULT => options.small_result = true,
                Kw::SQL_BIG_RESULT => options.big_result = true,
                Kw::SQL_BUFFER_RESULT => options.buffer_result = true,
                Kw::SQL_NO_CACHE => {
                    options.no_cache = true;
                    self.obsolete("SQL_NO_CACHE");
                }
                Kw::SQL_CALC_FOUND_ROWS => options.calc_found_rows = true,
                _ => break,
            }
            self.bump();
        }
        if all && options.distinct {
            let message = "Incorrect usage of ALL and DISTINCT".to_string();
            return Err(self.other(1221, "HY000", message));
        }
        Ok(())
    }

    /// The select list; a bare `*` can only be its first item.
    #[inline(never)]
    pub(super) fn select_list(&mut self) -> PResult<Vec<SelectItem>> {
        let mut items = Vec::new();
        if self.accept(Tok::Star) {
            items.push(SelectItem::Wildcard);
        } else {
            items.push(self.select_item()?);
        }
        while self.accept(Tok::Comma) {
            items.push(self.select_item()?);
        }
        Ok(items)
    }

    /// `t.*`, or an expression with or without an alias.
    fn select_item(&mut self) -> PResult<SelectItem> {
        if let Some(item) = self.table_wildcard()? {
            return Ok(item);
        }
        let start = self.tok.start;
        let expr = self.expr()?;
        let end = self.prev_end;
        let alias = self.alias(true)?;
        let text =
            if alias.is_some() { String::new() } else { without_comments(self.text(start, end)) };
        Ok(SelectItem::Expr { expr, alias, text })
    }

    fn table_wildcard(&mut self) -> PResult<Option<SelectItem>> {
        if !Self::is_ident(self.tok) || self.peek().tok != Tok::Dot {
            return Ok(None);
        }
        let mut ahead = self.lex;
        let mut token = ahead.next();
        if token.tok != Tok::Star {
            if !matches!(token.tok, Tok::Word | Tok::Quoted) || ahead.next().tok != Tok::Dot {
                return Ok(None);
            }
            token = ahead.next();
            if token.tok != Tok::Star {
                return Ok(None);
            }
        }
        let first = self.ident()?;
        self.bump();
        let name = if self.is(Tok::Star) {
            crate::ast::ObjectName::bare(first)
        } else {
            let name = self.ident_after_dot()?;
            self.bump();
            crate::ast::ObjectName { db: Some(first), name }
        };
        self.bump();
        Ok(Some(SelectItem::TableWildcard(name)))
    }

    #[inline(never)]
    pub(super) fn opt_where(&mut self) -> PResult<Option<Expr>> {
        if self.accept_kw(Kw::WHERE) { Ok(Some(self.expr()?)) } else { Ok(None) }
    }

    /// ORDER BY, or nothing.
    #[inline(never)]
    pub(super) fn opt_order_by(&mut self) -> PResult<Vec<OrderItem>> {
        if !self.accept_kw(Kw::ORDER) {
            return Ok(Vec::new());
        }
        self.expect_kw(Kw::BY)?;
        self.order_list()
    }

    #[inline(never)]
    pub(super) fn order_list(&mut self) -> PResult<Vec<OrderItem>> {
        self.list(|p| {
            let expr = p.expr()?;
            let desc = p.accept_any(&[Kw::ASC, Kw::DESC]) == Some(Kw::DESC);
            Ok(OrderItem { expr, desc })
        })
    }

    /// LIMIT, or nothing.
    pub(super) fn opt_limit(&mut self) -> PResult<Option<Limit>> {
        if !self.accept_kw(Kw::LIMIT) {
            return Ok(None);
        }
        let first = self.limit_option()?;
        if self.accept(Tok::Comma) {
            return Ok(Some(Limit { offset: Some(first), count: self.limit_option()? }));
        }
        if self.accept_kw(Kw::OFFSET) {
            return Ok(Some(Limit { offset: Some(self.limit_option()?), count: first }));
        }
        Ok(Some(Limit { offset: None, count: first }))
    }

    /// LIMIT n without an offset, or nothing.
    pub(super) fn opt_row_count(&mut self) -> PResult<Option<Limit>> {
        if !self.accept_kw(Kw::LIMIT) {
            return Ok(None);
        }
        Ok(Some(Limit { offset: None, count: self.limit_option()? }))
    }

    #[inline(never)]
    fn limit_option(&mut self) -> PResult<Expr> {
        match self.kind() {
            Tok::Int | Tok::Hex => Ok(Expr::int(self.uint()?)),
            Tok::Param => self.primary(),
            _ => {
                let name = self.ident()?;
                let local = self.local(&name);
                Ok(local.map_or_else(|| Expr::column(name), Expr::Param))
            }
        }
    }

    #[inline(never)]
    fn query_tail(&mut self, query: &mut Query) -> PResult<()> {
        query.order_by = self.opt_order_by()?;
        query.limit = self.opt_limit()?;
        loop {
            if let Some(into) = self.opt_into()? {
                if query.into.is_some() {
                    return Err(self.second_into());
                }
                query.into = Some(into);
            } else if let Some(locking) = self.opt_locking()? {
                query.locking.push(locking);
            } else {
                return Ok(());
            }
        }
    }

    fn opt_locking(&mut self) -> PResult<Option<Locking>> {
        if self.is_kw(Kw::LOCK) && self.peek_is_kw(Kw::IN) {
            self.bump();
            self.bump();
            self.expect_kw(Kw::SHARE)?;
            self.expect_kw(Kw::MODE)?;
            let (strength, wait) = (LockStrength::Share, LockWait::Wait);
            return Ok(Some(Locking { strength, of: Vec::new(), wait }));
        }
        if !self.accept_kw(Kw::FOR) {
            return Ok(None);
        }
        let strength = match self.expect_any(&[Kw::UPDATE, Kw::SHARE])? {
            Kw::UPDATE => LockStrength::Update,
            _ => LockStrength::Share,
        };
        let of = if self.accept_kw(Kw::OF) { self.list(Self::object_name)? } else { Vec::new() };
        let wait = if self.accept_kw(Kw::NOWAIT) {
            LockWait::NoWait
        } else if self.accept_kw(Kw::SKIP) {
            self.expect_kw(Kw::LOCKED)?;
            LockWait::SkipLocked
        } else {
            LockWait::Wait
        };
        Ok(Some(Locking { strength, of, wait }))
    }

    fn opt_into(&mut self) -> PResult<Option<SelectInto>> {
        if !self.accept_kw(Kw::INTO) {
            return Ok(None);
        }
        if self.accept_kw(Kw::OUTFILE) {
            let path = self.string()?;
            let charset = if self.accept_charset() { Some(self.charset_name()?) } else { None };
            let format = self.file_format()?;
            return Ok(Some(SelectInto::Outfile { path, charset, format }));
        }
        if self.accept_kw(Kw::DUMPFILE) {
            return Ok(Some(SelectInto::Dumpfile(self.string()?)));
        }
        Ok(Some(SelectInto::Vars(self.list(Self::variable_target)?)))
    }

    pub(super) fn variable_target(&mut self) -> PResult<IntoTarget> {
        if self.is(Tok::UserVar) {
            let token = self.bump();
            return Ok(IntoTarget::UserVar(self.user_var_name(token)));
        }
        self.local_target()
    }

    /// FIELDS | COLUMNS … LINES …
    pub(super) fn file_format(&mut self) -> PResult<FileFormat> {
        let mut format = FileFormat::default();
        if self.accept_any(&[Kw::FIELDS, Kw::COLUMNS]).is_some() {
            let mut any = false;
            loop {
                let optionally = self.accept_kw(Kw::OPTIONALLY);
                let part = match self.kw() {
                    Kw::ENCLOSED => {
                        format.optionally_enclosed |= optionally;
                        &mut format.fields_enclosed
                    }
                    Kw::TERMINATED if !optionally => &mut format.fields_terminated,
                    Kw::ESCAPED if !optionally => &mut format.fields_escaped,
                    _ if any && !optionally => break,
                    _ => return Err(self.error()),
                };
                any = true;
                self.bump();
                self.expect_kw(Kw::BY)?;
                *part = Some(utf8(&self.string_or_hex()?));
            }
        }
        if self.accept_kw(Kw::LINES) {
            let mut any = false;
            loop {
                let part = match self.kw() {
                    Kw::TERMINATED => &mut format.lines_terminated,
                    Kw::STARTING => &mut format.lines_starting,
                    _ if any => break,
                    _ => return Err(self.error()),
                };
                any = true;
                self.bump();
                self.expect_kw(Kw::BY)?;
                *part = Some(utf8(&self.string_or_hex()?));
            }
        }
        Ok(format)
    }
}
