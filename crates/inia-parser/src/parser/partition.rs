//! PARTITION BY, lists of partitions, and the partition actions of ALTER TABLE.

use super::{PResult, Parser};
use crate::{
    ast::{
        PartitionAction, PartitionBy, PartitionItem, PartitionNames, PartitionOptions,
        PartitionScheme, PartitionSpec, PartitionValue, PartitionValues,
    },
    keyword::Kw,
    lexer::Tok,
};

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
        let partitions = match self.is(Tok::LParen) && !self.parens_hold_query() {
            true => self.partition_list()?,
            false => Vec::new(),
        };
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

    fn partition_expr(&mut self) -> PResult<crate::ast::Expr> {
        self.expect(Tok::LParen)?;
        let expr = self.expr()?;
        self.expect(Tok::RParen)?;
        Ok(expr)
    }

    fn partition_count(&mut self, word: Kw) -> PResult<Option<u64>> {
        if self.accept_kw(word) { self.uint().map(Some) } else { Ok(None) }
    }

    fn partition_list(&mut self) -> PResult<Vec<PartitionSpec>> {
        self.paren_list(|parser| parser.partition_spec(Kw::PARTITION))
    }

    fn partition_spec(&mut self, word: Kw) -> PResult<PartitionSpec> {
        self.expect_kw(word)?;
        let name = self.ident()?;
        let sub = word == Kw::SUBPARTITION;
        let values = match !sub && self.accept_kw(Kw::VALUES) {
            true => self.partition_values()?,
            false => PartitionValues::None,
        };
        let options = self.partition_options()?;
        let mut subpartitions = Vec::new();
        if !sub && self.is(Tok::LParen) {
            subpartitions = self.paren_list(|parser| parser.partition_spec(Kw::SUBPARTITION))?;
        }
        Ok(PartitionSpec { name, values, options, subpartitions })
    }

    fn partition_values(&mut self) -> PResult<PartitionValues> {
        if self.accept_kw(Kw::IN) {
            return Ok(PartitionValues::In(self.paren_list(|parser| {
                if parser.is(Tok::LParen) {
                    return parser.paren_list(Self::partition_value).map(PartitionItem::Row);
                }
                parser.partition_value().map(PartitionItem::One)
            })?));
        }
        self.expect_kw(Kw::LESS)?;
        self.expect_kw(Kw::THAN)?;
        if self.accept_kw(Kw::MAXVALUE) {
            return Ok(PartitionValues::Maxvalue);
        }
        Ok(PartitionValues::LessThan(self.paren_list(Self::partition_value)?))
    }

    fn partition_value(&mut self) -> PResult<PartitionValue> {
        match self.accept_kw(Kw::MAXVALUE) {
            true => Ok(PartitionValue::Maxvalue),
            false => Ok(PartitionValue::Expr(self.expr()?)),
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
                    false => PartitionAction::Add(self.partition_list()?),
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
                PartitionAction::Reorganize { names, into: self.partition_list()? }
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
