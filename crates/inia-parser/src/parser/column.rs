//! Data types, column definitions, keys and constraints.

use super::{PResult, Parser, string_expr, utf8};
use crate::{
    ParseErrorKind, SqlMode,
    ast::{
        CheckDef, ColumnDef, ColumnDefault, Expr, ForeignKeyDef, Generated, IndexDef, IndexKind,
        IndexOptions, KeyPart, KeyPartKey, ReferenceAction, References, TableElement, TypeKind,
        TypeSpec, UnaryOp,
    },
    keyword::Kw,
    lexer::Tok,
};

impl Parser<'_> {
    /// A data type without COLLATE.
    pub(super) fn type_spec(&mut self) -> PResult<TypeSpec> {
        use TypeKind::*;
        let kind = match self.kw() {
            Kw::BIT => Bit,
            Kw::BOOL | Kw::BOOLEAN => Bool,
            Kw::TINYINT | Kw::INT1 => TinyInt,
            Kw::SMALLINT | Kw::INT2 => SmallInt,
            Kw::MEDIUMINT | Kw::MIDDLEINT | Kw::INT3 => MediumInt,
            Kw::INT | Kw::INTEGER | Kw::INT4 => Int,
            Kw::BIGINT | Kw::INT8 => BigInt,
            Kw::DECIMAL | Kw::DEC | Kw::NUMERIC | Kw::FIXED => Decimal,
            Kw::FLOAT | Kw::FLOAT4 => Float,
            Kw::REAL if self.mode.has(SqlMode::REAL_AS_FLOAT) => Float,
            Kw::DOUBLE | Kw::FLOAT8 | Kw::REAL => Double,
            Kw::CHAR | Kw::CHARACTER | Kw::NCHAR => Char,
            Kw::VARCHAR | Kw::VARCHARACTER | Kw::NVARCHAR => VarChar,
            Kw::NATIONAL => return self.national_type(),
            Kw::BINARY => Binary,
            Kw::VARBINARY => VarBinary,
            Kw::TINYTEXT => TinyText,
            Kw::TEXT => Text,
            Kw::MEDIUMTEXT => MediumText,
            Kw::LONGTEXT => LongText,
            Kw::LONG => return self.long_type(),
            Kw::TINYBLOB => TinyBlob,
            Kw::BLOB => Blob,
            Kw::MEDIUMBLOB => MediumBlob,
            Kw::LONGBLOB => LongBlob,
            Kw::DATE => Date,
            Kw::TIME => Time,
            Kw::DATETIME => DateTime,
            Kw::TIMESTAMP => Timestamp,
            Kw::YEAR => Year,
            Kw::ENUM => Enum,
            Kw::SET => Set,
            Kw::JSON => Json,
            Kw::SERIAL => Serial,
            Kw::GEOMETRY => Geometry,
            Kw::POINT => Point,
            Kw::LINESTRING => LineString,
            Kw::POLYGON => Polygon,
            Kw::MULTIPOINT => MultiPoint,
            Kw::MULTILINESTRING => MultiLineString,
            Kw::MULTIPOLYGON => MultiPolygon,
            Kw::GEOMETRYCOLLECTION | Kw::GEOMCOLLECTION => GeometryCollection,
            _ => return Err(self.error()),
        };
        let first = self.bump().kw;
        let mut ty = TypeSpec::new(kind);
        match first {
            Kw::DOUBLE => {
                self.accept_kw(Kw::PRECISION);
            }
            Kw::NCHAR | Kw::NVARCHAR => {
                ty.charset = Some("utf8mb3".to_string());
                ty.national = true;
            }
            _ => {}
        }
        let varying = matches!(first, Kw::CHAR | Kw::CHARACTER | Kw::NCHAR);
        if varying && self.accept_any(&[Kw::VARYING, Kw::VARCHAR]).is_some() {
            ty.kind = VarChar;
        }
        self.type_arguments(&mut ty)?;
        Ok(ty)
    }

    /// NATIONAL CHAR, NATIONAL VARCHAR, NATIONAL CHAR VARYING.
    fn national_type(&mut self) -> PResult<TypeSpec> {
        self.bump();
        let kw = self.expect_any(&[Kw::CHAR, Kw::CHARACTER, Kw::VARCHAR, Kw::VARCHARACTER])?;
        let varying = matches!(kw, Kw::VARCHAR | Kw::VARCHARACTER) || self.accept_kw(Kw::VARYING);
        let mut ty = TypeSpec::new(if varying { TypeKind::VarChar } else { TypeKind::Char });
        ty.charset = Some("utf8mb3".to_string());
        ty.national = true;
        self.type_arguments(&mut ty)?;
        Ok(ty)
    }

    /// LONG [VARCHAR], LONG VARBINARY.
    fn long_type(&mut self) -> PResult<TypeSpec> {
        self.bump();
        if self.accept_kw(Kw::VARBINARY) {
            return Ok(TypeSpec::new(TypeKind::MediumBlob));
        }
        if self.accept_any(&[Kw::CHAR, Kw::CHARACTER]).is_some() {
            self.expect_kw(Kw::VARYING)?;
        } else {
            let _ = self.accept_any(&[Kw::VARCHAR, Kw::VARCHARACTER]);
        }
        let mut ty = TypeSpec::new(TypeKind::MediumText);
        self.type_charset(&mut ty)?;
        Ok(ty)
    }

    /// What may stand after the type's name.
    fn type_arguments(&mut self, ty: &mut TypeSpec) -> PResult<()> {
        use TypeKind::*;
        match ty.kind {
            TinyInt | SmallInt | MediumInt | Int | BigInt => {
                ty.length = self.paren_uint()?;
                self.numeric_attributes(ty);
            }
            // DECIMAL and FLOAT take one number or two, DOUBLE takes both or none.
            Decimal | Float | Double => {
                if self.accept(Tok::LParen) {
                    ty.length = Some(self.uint()?);
                    if self.accept(Tok::Comma) {
                        ty.decimals = Some(self.uint()?);
                    } else if ty.kind == Double {
                        return Err(self.error());
                    }
                    self.expect(Tok::RParen)?;
                }
                self.numeric_attributes(ty);
            }
            Year => {
                ty.length = self.paren_uint()?;
                self.numeric_attributes(ty);
            }
            Bit | Binary | Time | DateTime | Timestamp | Blob => ty.length = self.paren_uint()?,
            VarBinary => ty.length = Some(self.required_length()?),
            VarChar => {
                ty.length = Some(self.required_length()?);
                self.type_charset(ty)?;
            }
            Char | Text => {
                ty.length = self.paren_uint()?;
                self.type_charset(ty)?;
            }
            TinyText | MediumText | LongText => self.type_charset(ty)?,
            Enum | Set => {
                ty.values = self.paren_list(|p| Ok(utf8(&p.string_or_hex()?)))?;
                self.type_charset(ty)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn required_length(&mut self) -> PResult<u64> {
        self.expect(Tok::LParen)?;
        let length = self.uint()?;
        self.expect(Tok::RParen)?;
        Ok(length)
    }

    fn numeric_attributes(&mut self, ty: &mut TypeSpec) {
        while let Some(kw) = self.accept_any(&[Kw::UNSIGNED, Kw::SIGNED, Kw::ZEROFILL]) {
            ty.unsigned |= kw == Kw::UNSIGNED;
            ty.zerofill |= kw == Kw::ZEROFILL;
        }
    }

    /// CHARACTER SET, ASCII, UNICODE, BYTE, BINARY after a string type, in either order.
    fn type_charset(&mut self, ty: &mut TypeSpec) -> PResult<()> {
        loop {
            if self.accept_kw(Kw::BINARY) {
                ty.binary = true;
            } else if self.accept_charset() {
                ty.charset = Some(self.charset_name()?);
            } else if self.accept_kw(Kw::ASCII) {
                ty.charset = Some("latin1".to_string());
                ty.charset_word = Some("ASCII");
            } else if self.accept_kw(Kw::UNICODE) {
                ty.charset = Some("ucs2".to_string());
                ty.charset_word = Some("UNICODE");
            } else if self.accept_kw(Kw::BYTE) {
                ty.charset = Some("binary".to_string());
            } else {
                return Ok(());
            }
        }
    }

    /// COLLATE after a type.
    pub(super) fn type_collation(&mut self, ty: &mut TypeSpec) -> PResult<()> {
        if self.accept_kw(Kw::COLLATE) {
            ty.collation = Some(self.collation_name()?);
        }
        Ok(())
    }

    /// `name type attributes`.
    pub(super) fn column_def(&mut self) -> PResult<ColumnDef> {
        let name = self.new_ident()?;
        self.column_def_named(name)
    }

    fn column_def_named(&mut self, name: String) -> PResult<ColumnDef> {
        let ty = self.type_spec()?;
        let mut def = ColumnDef::new(name, ty);
        self.type_collation(&mut def.ty)?;
        if self.accept_kw(Kw::GENERATED) {
            self.expect_kw(Kw::ALWAYS)?;
            self.expect_kw(Kw::AS)?;
            self.generated(&mut def)?;
        } else if self.accept_kw(Kw::AS) {
            self.generated(&mut def)?;
        }
        while self.column_attribute(&mut def)? {}
        if self.is_kw(Kw::REFERENCES) {
            def.references = Some(self.references()?);
        }
        Ok(def)
    }

    fn generated(&mut self, def: &mut ColumnDef) -> PResult<()> {
        self.expect(Tok::LParen)?;
        let expr = self.expr()?;
        self.expect(Tok::RParen)?;
        let stored = self.accept_any(&[Kw::VIRTUAL, Kw::STORED]) == Some(Kw::STORED);
        def.generated = Some(Generated { expr, stored });
        Ok(())
    }

    /// Takes one attribute; false where none stands.
    fn column_attribute(&mut self, def: &mut ColumnDef) -> PResult<bool> {
        match self.kw() {
            // NOT SECONDARY is one of the rare attributes.
            Kw::NOT if self.peek_is_kw(Kw::NULL) => {
                self.bump();
                self.bump();
                def.nullable = Some(false);
            }
            Kw::NULL => {
                self.bump();
                def.nullable = Some(true);
            }
            Kw::DEFAULT => {
                self.bump();
                def.default = Some(self.column_default()?);
            }
            Kw::ON => {
                self.bump();
                self.expect_kw(Kw::UPDATE)?;
                match self.opt_now()? {
                    Some(fsp) => def.on_update_now = Some(fsp),
                    None => return Err(self.error()),
                }
            }
            Kw::AUTO_INCREMENT => {
                self.bump();
                def.auto_increment = true;
            }
            // SERIAL DEFAULT VALUE stands for NOT NULL AUTO_INCREMENT UNIQUE.
            Kw::SERIAL => {
                self.bump();
                self.expect_kw(Kw::DEFAULT)?;
                self.expect_kw(Kw::VALUE)?;
                def.auto_increment = true;
                def.nullable = Some(false);
                def.unique = true;
            }
            Kw::UNIQUE => {
                self.bump();
                self.accept_kw(Kw::KEY);
                def.unique = true;
            }
            Kw::PRIMARY => {
                self.bump();
                self.expect_kw(Kw::KEY)?;
                def.primary_key = true;
            }
            Kw::KEY => {
                self.bump();
                def.primary_key = true;
            }
            Kw::COMMENT => {
                self.bump();
                def.comment = Some(self.comment()?);
            }
            Kw::COLLATE => {
                self.bump();
                def.ty.collation = Some(self.collation_name()?);
            }
            Kw::CONSTRAINT | Kw::CHECK => {
                let check = self.check_constraint()?;
                def.checks.push(check);
            }
            _ => return self.rare_column_attribute(def),
        }
        Ok(true)
    }

    fn rare_column_attribute(&mut self, def: &mut ColumnDef) -> PResult<bool> {
        match self.kw() {
            Kw::VISIBLE | Kw::INVISIBLE => def.invisible = self.bump().kw == Kw::INVISIBLE,
            Kw::COLUMN_FORMAT => {
                self.bump();
                let kw = self.tok;
                self.expect_any(&[Kw::DEFAULT, Kw::FIXED, Kw::DYNAMIC])?;
                def.column_format = Some(utf8(self.bytes(kw)).to_ascii_uppercase());
            }
            Kw::STORAGE => {
                self.bump();
                let kw = self.tok;
                self.expect_any(&[Kw::DEFAULT, Kw::DISK, Kw::MEMORY])?;
                def.storage = Some(utf8(self.bytes(kw)).to_ascii_uppercase());
            }
            Kw::SRID => {
                self.bump();
                def.srid = Some(self.uint()?);
            }
            Kw::ENGINE_ATTRIBUTE | Kw::SECONDARY_ENGINE_ATTRIBUTE => {
                self.bump();
                self.opt_eq();
                self.string()?;
            }
            Kw::NOT if self.peek_is_kw(Kw::SECONDARY) => {
                self.bump();
                self.bump();
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// What follows DEFAULT.
    pub(super) fn column_default(&mut self) -> PResult<ColumnDefault> {
        if self.accept(Tok::LParen) {
            let expr = self.expr()?;
            self.expect(Tok::RParen)?;
            return Ok(ColumnDefault::Expr(expr));
        }
        if let Some(fsp) = self.opt_now()? {
            return Ok(ColumnDefault::Now(fsp));
        }
        Ok(ColumnDefault::Literal(self.signed_literal()?))
    }

    /// CURRENT_TIMESTAMP and its synonyms with their precision.
    fn opt_now(&mut self) -> PResult<Option<u8>> {
        let bare = [Kw::CURRENT_TIMESTAMP, Kw::LOCALTIME, Kw::LOCALTIMESTAMP];
        if self.accept_any(&bare).is_none() {
            if !self.is_word("now") {
                return Ok(None);
            }
            self.bump();
            if !self.is(Tok::LParen) {
                return Err(self.error());
            }
        }
        if !self.accept(Tok::LParen) {
            return Ok(Some(0));
        }
        let fsp = if self.is(Tok::Int) { self.uint()? } else { 0 };
        self.expect(Tok::RParen)?;
        Ok(Some(u8::try_from(fsp).unwrap_or(u8::MAX)))
    }

    /// A literal with an optional sign.
    pub(super) fn signed_literal(&mut self) -> PResult<Expr> {
        let op = match self.kind() {
            Tok::Minus => UnaryOp::Neg,
            Tok::Plus => UnaryOp::Plus,
            Tok::Word => {
                let start = self.tok.start;
                return match self.primary()? {
                    literal @ Expr::Literal(_) => Ok(literal),
                    _ => Err(self.error_at(start, ParseErrorKind::Syntax)),
                };
            }
            _ => return Ok(Expr::Literal(self.literal(None)?)),
        };
        self.bump();
        if !matches!(self.tok.tok, Tok::Int | Tok::Decimal | Tok::Float) {
            return Err(self.error());
        }
        let literal = Expr::Literal(self.literal(None)?);
        if op == UnaryOp::Plus {
            return Ok(literal);
        }
        Ok(Expr::Unary { op, expr: Box::new(literal) })
    }

    /// `[CONSTRAINT [name]] CHECK (expr) [[NOT] ENFORCED]`.
    fn check_constraint(&mut self) -> PResult<CheckDef> {
        let mut name = None;
        if self.accept_kw(Kw::CONSTRAINT) && !self.is_kw(Kw::CHECK) {
            name = Some(self.new_ident()?);
        }
        self.check_def(name)
    }

    fn check_def(&mut self, name: Option<String>) -> PResult<CheckDef> {
        self.expect_kw(Kw::CHECK)?;
        self.expect(Tok::LParen)?;
        let expr = self.expr()?;
        self.expect(Tok::RParen)?;
        let enforced = self.opt_enforced().unwrap_or(true);
        Ok(CheckDef { name, expr, enforced })
    }

    /// `[NOT] ENFORCED`.
    pub(super) fn opt_enforced(&mut self) -> Option<bool> {
        if self.accept_pair(Kw::NOT, Kw::ENFORCED) {
            return Some(false);
        }
        self.accept_kw(Kw::ENFORCED).then_some(true)
    }

    /// REFERENCES parent (columns) …
    fn references(&mut self) -> PResult<References> {
        self.expect_kw(Kw::REFERENCES)?;
        let table = self.object_name()?;
        let columns = if self.is(Tok::LParen) { self.ident_list()? } else { Vec::new() };
        if self.accept_kw(Kw::MATCH) {
            self.expect_any(&[Kw::FULL, Kw::PARTIAL, Kw::SIMPLE])?;
        }
        let (mut on_delete, mut on_update) = (None, None);
        while self.accept_kw(Kw::ON) {
            match self.expect_any(&[Kw::DELETE, Kw::UPDATE])? {
                Kw::DELETE if on_delete.is_none() => on_delete = Some(self.reference_action()?),
                Kw::UPDATE if on_update.is_none() => on_update = Some(self.reference_action()?),
                _ => return Err(self.error()),
            }
        }
        Ok(References { table, columns, on_delete, on_update })
    }

    fn reference_action(&mut self) -> PResult<ReferenceAction> {
        Ok(match self.expect_any(&[Kw::RESTRICT, Kw::CASCADE, Kw::SET, Kw::NO])? {
            Kw::RESTRICT => ReferenceAction::Restrict,
            Kw::CASCADE => ReferenceAction::Cascade,
            Kw::NO => {
                self.expect_kw(Kw::ACTION)?;
                ReferenceAction::NoAction
            }
            _ => match self.expect_any(&[Kw::NULL, Kw::DEFAULT])? {
                Kw::NULL => ReferenceAction::SetNull,
                _ => ReferenceAction::SetDefault,
            },
        })
    }

    /// One member of a table definition.
    pub(super) fn table_element(&mut self) -> PResult<TableElement> {
        if let Some(element) = self.key_or_constraint()? {
            return Ok(element);
        }
        Ok(TableElement::Column(Box::new(self.column_def()?)))
    }

    /// A key or constraint, `None` where a column must stand.
    pub(super) fn key_or_constraint(&mut self) -> PResult<Option<TableElement>> {
        let mut constraint = None;
        let named = self.accept_kw(Kw::CONSTRAINT);
        if named && Self::is_ident(self.tok) {
            constraint = Some(self.new_ident()?);
        }
        let element = match self.kw() {
            Kw::CHECK => TableElement::Check(self.check_def(constraint)?),
            Kw::FOREIGN => TableElement::ForeignKey(self.foreign_key(constraint)?),
            Kw::PRIMARY => {
                self.bump();
                self.expect_kw(Kw::KEY)?;
                TableElement::Index(self.index_def(IndexKind::Primary, constraint)?)
            }
            Kw::UNIQUE => {
                self.bump();
                let _ = self.accept_any(&[Kw::INDEX, Kw::KEY]);
                TableElement::Index(self.index_def(IndexKind::Unique, constraint)?)
            }
            _ if named => return Err(self.error()),
            Kw::INDEX | Kw::KEY => {
                self.bump();
                TableElement::Index(self.index_def(IndexKind::Plain, None)?)
            }
            Kw::FULLTEXT | Kw::SPATIAL => {
                let full = self.bump().kw == Kw::FULLTEXT;
                let _ = self.accept_any(&[Kw::INDEX, Kw::KEY]);
                let kind = if full { IndexKind::FullText } else { IndexKind::Spatial };
                TableElement::Index(self.index_def(kind, None)?)
            }
            _ => return Ok(None),
        };
        Ok(Some(element))
    }

    fn foreign_key(&mut self, constraint: Option<String>) -> PResult<ForeignKeyDef> {
        self.bump();
        self.expect_kw(Kw::KEY)?;
        let index_name = if Self::is_ident(self.tok) { Some(self.ident()?) } else { None };
        let columns = self.ident_list()?;
        let references = self.references()?;
        Ok(ForeignKeyDef { constraint, index_name, columns, references })
    }

    /// `[name] [USING type] (parts) options`.
    fn index_def(&mut self, kind: IndexKind, constraint: Option<String>) -> PResult<IndexDef> {
        let name = if Self::is_ident(self.tok) { Some(self.new_ident()?) } else { None };
        let mut options = IndexOptions::default();
        let ordered = !matches!(kind, IndexKind::FullText | IndexKind::Spatial);
        if ordered && self.accept_any(&[Kw::USING, Kw::TYPE]).is_some() {
            options.using = Some(self.index_type()?);
        }
        let parts = self.key_parts()?;
        self.index_options(kind, &mut options)?;
        Ok(IndexDef { kind, constraint, name, parts, options })
    }

    pub(super) fn index_type(&mut self) -> PResult<String> {
        let token = self.tok;
        self.expect_any(&[Kw::BTREE, Kw::HASH, Kw::RTREE])?;
        Ok(utf8(self.bytes(token)).to_ascii_uppercase())
    }

    pub(super) fn key_parts(&mut self) -> PResult<Vec<KeyPart>> {
        self.paren_list(|p| {
            let key = if p.accept(Tok::LParen) {
                let expr = p.expr()?;
                p.expect(Tok::RParen)?;
                KeyPartKey::Expr(expr)
            } else {
                let name = p.ident()?;
                KeyPartKey::Column { name, prefix: p.paren_uint()? }
            };
            let order = p.accept_any(&[Kw::ASC, Kw::DESC]);
            Ok(KeyPart { key, desc: order == Some(Kw::DESC), ordered: order.is_some() })
        })
    }

    pub(super) fn index_options(
        &mut self,
        kind: IndexKind,
        options: &mut IndexOptions,
    ) -> PResult<()> {
        let words = kind == IndexKind::FullText;
        let ordered = !words && kind != IndexKind::Spatial;
        loop {
            match self.kw() {
                Kw::USING | Kw::TYPE if ordered => {
                    self.bump();
                    options.using = Some(self.index_type()?);
                }
                Kw::KEY_BLOCK_SIZE => {
                    self.bump();
                    self.opt_eq();
                    options.key_block_size = Some(self.uint()?);
                }
                Kw::COMMENT => {
                    self.bump();
                    options.comment = Some(self.comment()?);
                }
                Kw::VISIBLE | Kw::INVISIBLE => options.invisible = self.bump().kw == Kw::INVISIBLE,
                Kw::WITH if words && self.peek_is_kw(Kw::PARSER) => {
                    self.bump();
                    self.bump();
                    options.parser = Some(self.ident()?);
                }
                Kw::ENGINE_ATTRIBUTE | Kw::SECONDARY_ENGINE_ATTRIBUTE => {
                    self.bump();
                    self.opt_eq();
                    self.string()?;
                }
                _ => return Ok(()),
            }
        }
    }

    /// A value of an option as text: a word, a string or a number.
    pub(super) fn option_text(&mut self) -> PResult<String> {
        match self.kind() {
            Tok::Int | Tok::Hex => Ok(self.uint()?.to_string()),
            Tok::Str => self.string(),
            Tok::Word | Tok::Quoted => self.ident_after_dot(),
            _ => Err(self.error()),
        }
    }

    /// A string literal expression from a bare word.
    pub(super) fn word_literal(&mut self) -> Expr {
        let token = self.bump();
        string_expr(utf8(self.bytes(token)))
    }
}
