//! INSERT, REPLACE, UPDATE, DELETE, LOAD DATA, CALL, HANDLER.

use super::{PResult, Parser};
use crate::{
    ast::{
        Assignment, BinaryOp, Call, Delete, DeleteTarget, Expr, Handler, HandlerAction,
        HandlerPosition, Insert, InsertSource, LoadData, LoadDuplicate, LoadTarget, ObjectName,
        Priority, RowAlias, SelectItem, Statement, TableFactor, Update, With,
    },
    keyword::Kw,
    lexer::Tok,
};

impl Parser<'_> {
    /// INSERT and REPLACE; the first word is the current token.
    pub(super) fn insert(&mut self) -> PResult<Statement> {
        let replace = self.bump().kw == Kw::REPLACE;
        let (number, hints) = (self.block_number(), self.opt_hints(false));
        // The SELECT of an INSERT is the same query block.
        if hints.is_some() {
            self.open_block(number);
        }
        let priority = self.priority(&[Kw::LOW_PRIORITY, Kw::DELAYED, Kw::HIGH_PRIORITY]);
        if priority == Priority::Delayed {
            self.delayed(if replace { "REPLACE" } else { "INSERT" });
        }
        let ignore = self.accept_kw(Kw::IGNORE);
        self.accept_kw(Kw::INTO);
        let table = self.object_name()?;
        let partitions = self.opt_partitions()?;
        let mut insert = Insert {
            replace,
            priority,
            ignore,
            table,
            partitions,
            columns: Vec::new(),
            source: InsertSource::Values(Vec::new()),
            row_alias: None,
            on_duplicate: Vec::new(),
            returning: Vec::new(),
        };
        self.insert_source(&mut insert, number)?;
        if self.is_kw(Kw::ON) && !replace {
            self.bump();
            self.expect_kw(Kw::DUPLICATE)?;
            self.expect_kw(Kw::KEY)?;
            self.expect_kw(Kw::UPDATE)?;
            insert.on_duplicate = self.list(Self::assignment)?;
        }
        insert.returning = self.opt_returning()?;
        self.block_hints(number, hints);
        Ok(Statement::Insert(Box::new(insert)))
    }

    fn insert_source(&mut self, insert: &mut Insert, number: u32) -> PResult<()> {
        if self.accept_kw(Kw::SET) {
            let mut row = Vec::new();
            for Assignment { column, value } in self.list(Self::assignment)? {
                insert.columns.push(column);
                row.push(value);
            }
            insert.source = InsertSource::Values(vec![row]);
            return self.row_alias(insert);
        }
        if self.is(Tok::LParen) && !self.parens_hold_query() {
            self.bump();
            if !self.is(Tok::RParen) {
                insert.columns = self.list(Self::column_name)?;
            }
            self.expect(Tok::RParen)?;
        }
        let values = self.is_kw(Kw::VALUE) || self.is_kw(Kw::VALUES);
        if values && !self.peek_is_kw(Kw::ROW) {
            self.bump();
            insert.source = self.insert_rows()?;
            return self.row_alias(insert);
        }
        if !self.at_query() && !self.is(Tok::LParen) {
            return Err(self.error());
        }
        self.next_block = Some(number);
        self.may_return = true;
        let query = self.query();
        self.may_return = false;
        insert.source = InsertSource::Query(Box::new(query?));
        self.next_block = None;
        Ok(())
    }

    /// At `(`: true where a query begins after this and any further `(`.
    pub(super) fn parens_hold_query(&mut self) -> bool {
        if self.peek().tok != Tok::LParen {
            return matches!(self.peek().kw, Kw::SELECT | Kw::WITH | Kw::TABLE | Kw::VALUES);
        }
        let mut ahead = self.lex;
        loop {
            let token = ahead.next();
            if token.tok != Tok::LParen {
                return matches!(token.kw, Kw::SELECT | Kw::WITH | Kw::TABLE | Kw::VALUES);
            }
        }
    }

    /// `RETURNING items`, which MariaDB and PostgreSQL have.
    fn opt_returning(&mut self) -> PResult<Vec<SelectItem>> {
        if !self.is_kw(Kw::RETURNING) {
            return Ok(Vec::new());
        }
        self.bump();
        self.select_list()
    }

    /// Whether RETURNING, where an alias could stand, begins its clause. MySQL takes the word for
    /// an alias; what follows here cannot follow one.
    pub(super) fn at_returning(&mut self) -> bool {
        use Kw as K;
        if !self.is_kw(Kw::RETURNING) {
            return false;
        }
        let next = self.peek();
        match next.tok {
            Tok::Eof | Tok::Semi | Tok::Comma | Tok::RParen | Tok::Dot | Tok::Eq => false,
            Tok::Word if matches!(next.kw, K::LEFT | K::RIGHT) => {
                let mut ahead = self.lex;
                ahead.next().tok == Tok::LParen
            }
            Tok::Word => !matches!(
                next.kw,
                K::AS
                    | K::CROSS
                    | K::EXCEPT
                    | K::FOR
                    | K::FORCE
                    | K::FROM
                    | K::GROUP
                    | K::HAVING
                    | K::IGNORE
                    | K::INNER
                    | K::INTERSECT
                    | K::INTO
                    | K::JOIN
                    | K::LIMIT
                    | K::LOCK
                    | K::NATURAL
                    | K::ON
                    | K::ORDER
                    | K::PARTITION
                    | K::SET
                    | K::STRAIGHT_JOIN
                    | K::UNION
                    | K::USE
                    | K::USING
                    | K::WHERE
                    | K::WINDOW
            ),
            _ => true,
        }
    }

    fn row_alias(&mut self, insert: &mut Insert) -> PResult<()> {
        if !insert.replace && self.accept_kw(Kw::AS) {
            let name = self.ident()?;
            let columns = if self.is(Tok::LParen) { self.ident_list()? } else { Vec::new() };
            insert.row_alias = Some(RowAlias { name, columns });
        }
        Ok(())
    }

    fn priority(&mut self, allowed: &[Kw]) -> Priority {
        match self.accept_any(allowed) {
            Some(Kw::LOW_PRIORITY) => Priority::Low,
            Some(Kw::HIGH_PRIORITY) => Priority::High,
            Some(Kw::DELAYED) => Priority::Delayed,
            Some(_) => Priority::Concurrent,
            None => Priority::Normal,
        }
    }

    /// `column = expr | DEFAULT`.
    pub(super) fn assignment(&mut self) -> PResult<Assignment> {
        let column = self.column_name()?;
        if !self.accept(Tok::Assign) {
            self.expect(Tok::Eq)?;
        }
        Ok(Assignment { column, value: self.expr_or_default()? })
    }

    /// UPDATE; the word is the current token.
    pub(super) fn update(&mut self, with: Option<With>) -> PResult<Statement> {
        self.bump();
        let (number, hints) = (self.block_number(), self.opt_hints(false));
        let priority = self.priority(&[Kw::LOW_PRIORITY]);
        let ignore = self.accept_kw(Kw::IGNORE);
        let tables = self.table_refs()?;
        self.expect_kw(Kw::SET)?;
        let assignments = self.list(Self::assignment)?;
        let where_ = self.opt_where()?;
        let order_by = self.opt_order_by()?;
        let limit = self.opt_row_count()?;
        let returning = self.opt_returning()?;
        let hints = self.block_hints(number, hints);
        Ok(Statement::Update(Box::new(Update {
            with,
            priority,
            ignore,
            tables,
            assignments,
            where_,
            order_by,
            limit,
            returning,
            hints,
        })))
    }

    /// DELETE; the word is the current token.
    pub(super) fn delete(&mut self, with: Option<With>) -> PResult<Statement> {
        self.bump();
        let (number, hints) = (self.block_number(), self.opt_hints(false));
        let mut delete = Delete {
            with,
            priority: Priority::Normal,
            quick: false,
            ignore: false,
            target: DeleteTarget::Multi { targets: Vec::new(), from: Vec::new() },
            where_: None,
            order_by: Vec::new(),
            limit: None,
            returning: Vec::new(),
            hints: None,
        };
        loop {
            match self.kw() {
                Kw::LOW_PRIORITY => delete.priority = Priority::Low,
                Kw::QUICK => delete.quick = true,
                Kw::IGNORE => delete.ignore = true,
                _ => break,
            }
            self.bump();
        }
        delete.target = self.delete_target()?;
        delete.where_ = self.opt_where()?;
        if matches!(delete.target, DeleteTarget::Single(_)) {
            delete.order_by = self.opt_order_by()?;
            delete.limit = self.opt_row_count()?;
            delete.returning = self.opt_returning()?;
        }
        delete.hints = self.block_hints(number, hints);
        Ok(Statement::Delete(Box::new(delete)))
    }

    fn delete_target(&mut self) -> PResult<DeleteTarget> {
        if !self.accept_kw(Kw::FROM) {
            let targets = self.list(Self::delete_name)?;
            self.expect_kw(Kw::FROM)?;
            return Ok(DeleteTarget::Multi { targets, from: self.table_refs()? });
        }
        let name = self.delete_name()?;
        if !self.is(Tok::Comma) && !self.is_kw(Kw::USING) {
            let alias = if self.at_returning() { None } else { self.alias(false)? };
            let partitions = self.opt_partitions()?;
            let table = TableFactor { name, partitions, alias, hints: Vec::new() };
            return Ok(DeleteTarget::Single(Box::new(table)));
        }
        let mut targets = vec![name];
        while self.accept(Tok::Comma) {
            targets.push(self.delete_name()?);
        }
        self.expect_kw(Kw::USING)?;
        Ok(DeleteTarget::Multi { targets, from: self.table_refs()? })
    }

    /// `[db.]name[.*]`.
    fn delete_name(&mut self) -> PResult<ObjectName> {
        let first = self.ident()?;
        let mut name = ObjectName::bare(first);
        while self.accept(Tok::Dot) {
            if self.accept(Tok::Star) {
                return Ok(name);
            }
            if name.db.is_some() {
                return Err(self.error());
            }
            let last = self.ident_after_dot()?;
            name = ObjectName { db: Some(name.name), name: last };
        }
        Ok(name)
    }

    /// LOAD DATA; LOAD is the current token.
    pub(super) fn load(&mut self) -> PResult<Statement> {
        self.bump();
        if self.is_kw(Kw::INDEX) {
            return self.load_index();
        }
        let xml = self.expect_any(&[Kw::DATA, Kw::XML])? == Kw::XML;
        let priority = self.priority(&[Kw::LOW_PRIORITY, Kw::CONCURRENT]);
        let local = self.accept_kw(Kw::LOCAL);
        self.expect_kw(Kw::INFILE)?;
        let path = self.string()?;
        let on_duplicate = self.load_duplicate();
        self.expect_kw(Kw::INTO)?;
        self.expect_kw(Kw::TABLE)?;
        let table = self.object_name()?;
        let partitions = self.opt_partitions()?;
        let charset = if self.accept_charset() { Some(self.charset_name()?) } else { None };
        let mut xml_rows = xml.then(|| "<row>".to_owned());
        if xml && self.accept_kw(Kw::ROWS) {
            self.expect_kw(Kw::IDENTIFIED)?;
            self.expect_kw(Kw::BY)?;
            xml_rows = Some(self.string()?);
        }
        let format = self.file_format()?;
        let mut ignore_lines = 0;
        if self.accept_kw(Kw::IGNORE) {
            ignore_lines = self.uint()?;
            self.expect_any(&[Kw::LINES, Kw::ROWS])?;
        }
        let mut targets = Vec::new();
        if self.accept(Tok::LParen) && !self.accept(Tok::RParen) {
            targets = self.list(|p| {
                if p.is(Tok::UserVar) {
                    let token = p.bump();
                    return Ok(LoadTarget::UserVar(p.user_var_name(token)));
                }
                Ok(LoadTarget::Column(p.column_name()?))
            })?;
            self.expect(Tok::RParen)?;
        }
        let assignments =
            if self.accept_kw(Kw::SET) { self.list(Self::assignment)? } else { Vec::new() };
        Ok(Statement::LoadData(Box::new(LoadData {
            priority,
            local,
            path,
            on_duplicate,
            table,
            partitions,
            charset,
            xml_rows,
            format,
            ignore_lines,
            targets,
            assignments,
        })))
    }

    pub(super) fn load_duplicate(&mut self) -> LoadDuplicate {
        match self.accept_any(&[Kw::REPLACE, Kw::IGNORE]) {
            Some(Kw::REPLACE) => LoadDuplicate::Replace,
            Some(_) => LoadDuplicate::Ignore,
            None => LoadDuplicate::Default,
        }
    }

    /// CALL; the word is the current token.
    pub(super) fn call_statement(&mut self) -> PResult<Statement> {
        self.bump();
        let name = self.object_name()?;
        let args = if self.is(Tok::LParen) { self.call_args()? } else { Vec::new() };
        Ok(Statement::Call(Call { name, args }))
    }

    /// HANDLER; the word is the current token.
    pub(super) fn handler(&mut self) -> PResult<Statement> {
        self.bump();
        let table = self.object_name()?;
        // An open table has a name without a database.
        let actions: &[Kw] = match table.db {
            Some(_) => &[Kw::OPEN],
            None => &[Kw::OPEN, Kw::CLOSE, Kw::READ],
        };
        let action = match self.expect_any(actions)? {
            Kw::OPEN => HandlerAction::Open(self.alias(false)?),
            Kw::CLOSE => HandlerAction::Close,
            _ => {
                let (index, position) = self.handler_position()?;
                let where_ = self.opt_where()?;
                HandlerAction::Read { index, position, where_, limit: self.opt_limit()? }
            }
        };
        Ok(Statement::Handler(Box::new(Handler { table, action })))
    }

    fn handler_position(&mut self) -> PResult<(Option<String>, HandlerPosition)> {
        let position = |kw| match kw {
            Kw::FIRST => HandlerPosition::First,
            Kw::NEXT => HandlerPosition::Next,
            Kw::PREV => HandlerPosition::Prev,
            _ => HandlerPosition::Last,
        };
        if let Some(kw) = self.accept_any(&[Kw::FIRST, Kw::NEXT]) {
            return Ok((None, position(kw)));
        }
        let index = Some(self.index_name()?);
        if let Some(kw) = self.accept_any(&[Kw::FIRST, Kw::NEXT, Kw::PREV, Kw::LAST]) {
            return Ok((index, position(kw)));
        }
        let op = match self.kind() {
            Tok::Eq => BinaryOp::Eq,
            Tok::Le => BinaryOp::Le,
            Tok::Lt => BinaryOp::Lt,
            Tok::Ge => BinaryOp::Ge,
            Tok::Gt => BinaryOp::Gt,
            _ => return Err(self.error()),
        };
        self.bump();
        let values: Vec<Expr> = self.value_row()?;
        Ok((index, HandlerPosition::Key(op, values)))
    }
}
