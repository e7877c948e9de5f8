//! PARTITION BY, lists of partitions, and the partition actions of ALTER TABLE.

use super::{PResult, Parser};
use crate::{
    ParseError, ParseErrorKind,
    ast::{
        Expr, PartitionAction, PartitionBy, PartitionItem, PartitionNames, PartitionOptions,
        PartitionScheme, PartitionSpec, PartitionValue, PartitionValues,
    },
    keyword::Kw,
    lexer::Tok,
};

const WRONG_SUBPARTITIONS: &str =
    "Wrong number of subpartitions defined, mismatch with previous setting";

/// What PARTITION BY says of the partitions that follow it.
#[derive(Clone, Copy)]
struct Form {
    /// RANGE; LIST otherwise.
    is_range: bool,
    /// Of RANGE COLUMNS and LIST COLUMNS.
    columns: Option<usize>,
    /// There are subpartitions, and how many each partition has where that is given.
    subs: Option<Option<usize>>,
}

impl Form {
    fn of(scheme: &PartitionScheme, subs: Option<Option<usize>>) -> Option<Form> {
        let (is_range, columns) = match scheme {
            PartitionScheme::Range(_) => (true, None),
            PartitionScheme::RangeColumns(columns) => (true, Some(columns.len())),
            PartitionScheme::List(_) => (false, None),
            PartitionScheme::ListColumns(columns) => (false, Some(columns.len())),
            _ => return None,
        };
        Some(Form { is_range, columns, subs })
    }

    /// The method, and the words of the values that each partition needs.
    fn words(self) -> (&'static str, &'static str) {
        if self.is_range { ("RANGE", "LESS THAN") } else { ("LIST", "IN") }
    }
}

/// Whether an expression's value depends on more than columns.
fn is_volatile(expr: &mut Expr) -> bool {
    const VOLATILE: [&str; 8] =
        ["rand", "now", "curdate", "curtime", "sysdate", "uuid", "current_timestamp", "utc_date"];
    let mut found = false;
    expr.walk_mut(&mut |node| {
        found |= match node {
            Expr::UserVar(_) | Expr::AssignVar { .. } | Expr::SysVar(_) => true,
            Expr::Function(call) => VOLATILE.contains(&call.name.as_str()),
            _ => false,
        };
    });
    found
}

impl Parser<'_> {
    /// PARTITION BY; PARTITION is the current token.
    pub(super) fn partition_by(&mut self) -> PResult<PartitionBy> {
        self.bump();
        self.expect_kw(Kw::BY)?;
        let scheme = self.partition_scheme(false)?;
        let count = self.partition_count(Kw::PARTITIONS)?;
        let mut sub = None;
        if self.accept_kw(Kw::SUBPARTITION) {
            self.expect_kw(Kw::BY)?;
            let scheme = self.partition_scheme(true)?;
            let count = self.partition_count(Kw::SUBPARTITIONS)?;
            let partitions = Vec::new();
            sub = Some(Box::new(PartitionBy { scheme, count, sub: None, partitions }));
        }
        let start = self.tok.start;
        let partitions = match self.is(Tok::LParen) && !self.parens_hold_query() {
            true => {
                let subs = sub.as_ref().map(|sub| sub.count.map(|count| count as usize));
                self.partition_list(Form::of(&scheme, subs))?
            }
            false => Vec::new(),
        };
        if !partitions.is_empty() && count.is_some_and(|count| count != partitions.len() as u64) {
            let text = "Wrong number of partitions defined, mismatch with previous setting";
            return Err(self.partition_error(start, text));
        }
        Ok(PartitionBy { scheme, count, sub, partitions })
    }

    fn partition_scheme(&mut self, sub: bool) -> PResult<PartitionScheme> {
        let linear = self.accept_kw(Kw::LINEAR);
        match self.kw() {
            Kw::HASH => {
                self.bump();
                Ok(PartitionScheme::Hash { linear, expr: self.partition_expr()? })
            }
            Kw::KEY => {
                self.bump();
                let mut algorithm = None;
                if self.accept_kw(Kw::ALGORITHM) {
                    self.expect(Tok::Eq)?;
                    let start = self.tok.start;
                    algorithm = Some(self.uint()?);
                    if !matches!(algorithm, Some(1 | 2)) {
                        return Err(self.error_at(start, crate::ParseErrorKind::Syntax));
                    }
                }
                self.expect(Tok::LParen)?;
                let mut columns = Vec::new();
                if !self.is(Tok::RParen) {
                    columns = self.list(Self::ident)?;
                }
                self.expect(Tok::RParen)?;
                Ok(PartitionScheme::Key { linear, algorithm, columns })
            }
            Kw::RANGE | Kw::LIST if !sub && !linear => {
                let range = self.bump().kw == Kw::RANGE;
                if self.accept_kw(Kw::COLUMNS) {
                    let columns = self.ident_list()?;
                    return Ok(match range {
                        true => PartitionScheme::RangeColumns(columns),
                        false => PartitionScheme::ListColumns(columns),
                    });
                }
                let expr = self.partition_expr()?;
                Ok(if range { PartitionScheme::Range(expr) } else { PartitionScheme::List(expr) })
            }
            _ => Err(self.error()),
        }
    }

    fn partition_expr(&mut self) -> PResult<Expr> {
        self.expect(Tok::LParen)?;
        let expr = self.steady_expr()?;
        self.expect(Tok::RParen)?;
        Ok(expr)
    }

    /// An expression that has the same value at any time.
    fn steady_expr(&mut self) -> PResult<Expr> {
        let start = self.tok.start;
        let mut expr = self.expr()?;
        if is_volatile(&mut expr) {
            let text = "Constant, random or timezone-dependent expressions in (sub)partitioning \
                        function are not allowed";
            return Err(self.partition_error(start, text));
        }
        Ok(expr)
    }

    /// Error 1064 with the text of another error.
    #[cold]
    fn partition_error(&self, start: u32, text: &str) -> Box<ParseError> {
        self.error_at(start, ParseErrorKind::SyntaxText(text.to_owned()))
    }

    #[cold]
    fn column_list_error(&self, start: u32) -> Box<ParseError> {
        self.partition_error(start, "Inconsistency in usage of column lists for partitioning")
    }

    fn partition_count(&mut self, word: Kw) -> PResult<Option<u64>> {
        if self.accept_kw(word) { self.uint().map(Some) } else { Ok(None) }
    }

    /// A list of partitions. What each must have is known where the list follows PARTITION BY.
    fn partition_list(&mut self, form: Option<Form>) -> PResult<Vec<PartitionSpec>> {
        let mut specs: Vec<PartitionSpec> = Vec::new();
        // The parenthesis or comma before a partition.
        let mut start = self.tok.start;
        self.expect(Tok::LParen)?;
        loop {
            let spec = self.partition_spec(form, (start, specs.first()))?;
            specs.push(spec);
            start = self.tok.start;
            if !self.accept(Tok::Comma) {
                break;
            }
        }
        self.expect(Tok::RParen)?;
        Ok(specs)
    }

    /// A partition; `before` is where the token before it starts, and the first one of the list.
    fn partition_spec(
        &mut self,
        form: Option<Form>,
        before: (u32, Option<&PartitionSpec>),
    ) -> PResult<PartitionSpec> {
        self.expect_kw(Kw::PARTITION)?;
        let name = self.ident()?;
        let start = self.tok.start;
        let values = match self.accept_kw(Kw::VALUES) {
            true => self.partition_values(form, start)?,
            false => PartitionValues::None,
        };
        if let Some(form) = form
            && values == PartitionValues::None
        {
            let (method, words) = form.words();
            let text = format!(
                "Syntax error: {method} PARTITIONING requires definition of VALUES {words} for \
                 each partition"
            );
            return Err(self.partition_error(before.0, &text));
        }
        let options = self.partition_options()?;
        let mut subpartitions = Vec::new();
        let at = self.tok.start;
        if self.is(Tok::LParen) {
            let wrong = form.and_then(|form| form.subs).is_some()
                && before.1.is_some_and(|first| first.subpartitions.is_empty());
            subpartitions = self.paren_list(|parser| parser.subpartition(wrong))?;
        }
        if let Some(given) = form.and_then(|form| form.subs) {
            let first = before.1.map(|first| first.subpartitions.len());
            let wanted = match first {
                None if subpartitions.is_empty() => None,
                None => given,
                Some(first) => Some(first),
            };
            if wanted.is_some_and(|wanted| wanted != subpartitions.len()) {
                return Err(self.partition_error(at, WRONG_SUBPARTITIONS));
            }
        }
        Ok(PartitionSpec { name, values, options, subpartitions })
    }

    fn subpartition(&mut self, wrong: bool) -> PResult<PartitionSpec> {
        if wrong {
            return Err(self.partition_error(self.tok.start, WRONG_SUBPARTITIONS));
        }
        self.expect_kw(Kw::SUBPARTITION)?;
        let name = self.ident()?;
        let options = self.partition_options()?;
        let values = PartitionValues::None;
        Ok(PartitionSpec { name, values, options, subpartitions: Vec::new() })
    }

    /// What a partition takes; `start` is where VALUES is written.
    fn partition_values(&mut self, form: Option<Form>, start: u32) -> PResult<PartitionValues> {
        if self.accept_kw(Kw::IN) {
            return self.partition_items(form).map(PartitionValues::In);
        }
        self.expect_kw(Kw::LESS)?;
        self.expect_kw(Kw::THAN)?;
        let columns = form.filter(|form| form.is_range).and_then(|form| form.columns);
        if self.accept_kw(Kw::MAXVALUE) {
            return match columns {
                Some(2..) => Err(self.column_list_error(start)),
                _ => Ok(PartitionValues::Maxvalue),
            };
        }
        self.expect(Tok::LParen)?;
        let limits = self.list(Self::partition_value)?;
        if columns.is_some_and(|columns| limits.len() < columns) {
            return Err(self.column_list_error(self.tok.start));
        }
        self.expect(Tok::RParen)?;
        Ok(PartitionValues::LessThan(limits))
    }

    /// The list of VALUES IN: of rows where the first item is one, of expressions otherwise.
    fn partition_items(&mut self, form: Option<Form>) -> PResult<Vec<PartitionItem>> {
        const ROW: &str =
            "Row expressions in VALUES IN only allowed for multi-field column partitioning";
        let form = form.filter(|form| !form.is_range);
        let columns = form.map(|form| form.columns.unwrap_or(1));
        let start = self.tok.start;
        self.expect(Tok::LParen)?;
        let rows = self.is(Tok::LParen);
        let items = self.list(|parser| match rows {
            true => {
                parser.expect(Tok::LParen)?;
                let row = parser.list(Self::listed_value)?;
                if columns.is_some_and(|columns| row.len() < columns) {
                    return Err(parser.column_list_error(parser.tok.start));
                }
                parser.expect(Tok::RParen)?;
                Ok(PartitionItem::Row(row))
            }
            false => parser.listed_value().map(PartitionItem::One),
        })?;
        if rows && columns == Some(1) {
            return Err(self.partition_error(self.tok.start, ROW));
        }
        if !rows && matches!(columns, Some(2..)) {
            return Err(self.column_list_error(start));
        }
        self.expect(Tok::RParen)?;
        Ok(items)
    }

    fn listed_value(&mut self) -> PResult<PartitionValue> {
        if self.is_kw(Kw::MAXVALUE) {
            let text = "Cannot use MAXVALUE as value in VALUES IN";
            return Err(self.partition_error(self.tok.start, text));
        }
        self.partition_value()
    }

    fn partition_value(&mut self) -> PResult<PartitionValue> {
        match self.accept_kw(Kw::MAXVALUE) {
            true => Ok(PartitionValue::Maxvalue),
            false => Ok(PartitionValue::Expr(self.steady_expr()?)),
        }
    }

    fn partition_options(&mut self) -> PResult<PartitionOptions> {
        let mut options = PartitionOptions::default();
        loop {
            match self.kw() {
                Kw::STORAGE | Kw::ENGINE => {
                    if self.bump().kw == Kw::STORAGE {
                        self.expect_kw(Kw::ENGINE)?;
                    }
                    self.opt_eq();
                    options.engine = Some(self.ident_or_string()?);
                }
                Kw::COMMENT => {
                    self.bump();
                    self.opt_eq();
                    options.comment = Some(self.string()?);
                }
                Kw::MAX_ROWS | Kw::MIN_ROWS => {
                    let most = self.bump().kw == Kw::MAX_ROWS;
                    self.opt_eq();
                    let rows = Some(self.whole_number()?);
                    if most {
                        options.max_rows = rows;
                    } else {
                        options.min_rows = rows;
                    }
                }
                Kw::DATA | Kw::INDEX => {
                    let data = self.bump().kw == Kw::DATA;
                    self.expect_kw(Kw::DIRECTORY)?;
                    self.opt_eq();
                    let folder = Some(self.string()?);
                    if data {
                        options.data_directory = folder;
                    } else {
                        options.index_directory = folder;
                    }
                }
                Kw::TABLESPACE => {
                    self.bump();
                    self.opt_eq();
                    options.tablespace = Some(self.ident()?);
                }
                Kw::NODEGROUP => {
                    self.bump();
                    self.opt_eq();
                    options.node_group = Some(self.uint()?);
                }
                _ => return Ok(options),
            }
        }
    }

    pub(super) fn partition_names(&mut self) -> PResult<PartitionNames> {
        match self.accept_kw(Kw::ALL) {
            true => Ok(PartitionNames::All),
            false => Ok(PartitionNames::Named(self.list(Self::ident)?)),
        }
    }

    /// LOCAL or NO_WRITE_TO_BINLOG, which say nothing here.
    fn skip_binlog_choice(&mut self) {
        let _ = self.accept_any(&[Kw::LOCAL, Kw::NO_WRITE_TO_BINLOG]);
    }

    /// A partition action of ALTER TABLE; its first word is the current token.
    pub(super) fn partition_action(&mut self) -> PResult<PartitionAction> {
        if self.is_kw(Kw::PARTITION) {
            return Ok(PartitionAction::By(Box::new(self.partition_by()?)));
        }
        let verb = self.bump().kw;
        if verb == Kw::REMOVE {
            self.expect_kw(Kw::PARTITIONING)?;
            return Ok(PartitionAction::Remove);
        }
        self.expect_kw(Kw::PARTITION)?;
        Ok(match verb {
            Kw::ADD => {
                self.skip_binlog_choice();
                match self.accept_kw(Kw::PARTITIONS) {
                    true => PartitionAction::AddCount(self.uint()?),
                    false => PartitionAction::Add(self.partition_list(None)?),
                }
            }
            Kw::DROP => PartitionAction::Drop(self.list(Self::ident)?),
            Kw::COALESCE => {
                self.skip_binlog_choice();
                PartitionAction::Coalesce(self.uint()?)
            }
            Kw::REORGANIZE => {
                self.skip_binlog_choice();
                if matches!(self.tok.tok, Tok::Eof | Tok::Semi) {
                    let (names, into) = (Vec::new(), Vec::new());
                    return Ok(PartitionAction::Reorganize { names, into });
                }
                let names = self.list(Self::ident)?;
                self.expect_kw(Kw::INTO)?;
                PartitionAction::Reorganize { names, into: self.partition_list(None)? }
            }
            Kw::EXCHANGE => self.exchange_partition()?,
            Kw::TRUNCATE => PartitionAction::Truncate(self.partition_names()?),
            Kw::DISCARD | Kw::IMPORT => {
                self.partition_names()?;
                self.expect_kw(Kw::TABLESPACE)?;
                PartitionAction::Tablespace
            }
            _ => self.partition_care(verb)?,
        })
    }

    /// ANALYZE, CHECK, OPTIMIZE, REBUILD and REPAIR PARTITION.
    fn partition_care(&mut self, verb: Kw) -> PResult<PartitionAction> {
        self.skip_binlog_choice();
        let names = self.partition_names()?;
        if matches!(verb, Kw::CHECK | Kw::REPAIR) {
            let checks = [Kw::QUICK, Kw::FAST, Kw::MEDIUM, Kw::EXTENDED, Kw::CHANGED];
            let repairs = [Kw::QUICK, Kw::EXTENDED, Kw::USE_FRM];
            let words: &[Kw] = if verb == Kw::CHECK { &checks } else { &repairs };
            while self.accept_any(words).is_some() {}
            if verb == Kw::CHECK && self.accept_kw(Kw::FOR) {
                self.expect_kw(Kw::UPGRADE)?;
            }
        }
        Ok(match verb {
            Kw::ANALYZE => PartitionAction::Analyze(names),
            Kw::CHECK => PartitionAction::Check(names),
            Kw::OPTIMIZE => PartitionAction::Optimize(names),
            Kw::REBUILD => PartitionAction::Rebuild(names),
            Kw::REPAIR => PartitionAction::Repair(names),
            _ => return Err(self.error()),
        })
    }

    fn exchange_partition(&mut self) -> PResult<PartitionAction> {
        let partition = self.ident()?;
        self.expect_kw(Kw::WITH)?;
        self.expect_kw(Kw::TABLE)?;
        let table = self.object_name()?;
        let mut validation = true;
        if let Some(word) = self.accept_any(&[Kw::WITH, Kw::WITHOUT]) {
            self.expect_kw(Kw::VALIDATION)?;
            validation = word == Kw::WITH;
        }
        Ok(PartitionAction::Exchange { partition, table, validation })
    }
}
