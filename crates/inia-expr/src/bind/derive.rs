//! Types of parameters from the operands beside them, while a statement is prepared: see
//! [`derive`](crate::derive).

use super::Binder;
use super::unset::is_variable;
use crate::context::SessionHost;
use crate::derive::{Derivation, DerivedParam, ParamType, ParamUse, argument};
use crate::tree::{Expr, ExprKind};
use crate::ty::{ExprType, TypeClass};
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::{self, CastType};

/// An operand as it was written, and bound.
type Operand<'e> = (&'e ast::Expr, &'e mut Expr);

/// What the open operands of an operator become.
#[derive(Clone, Copy, Debug)]
pub(super) enum Beside {
    /// Numbers to compute with: DOUBLE where all are open.
    Numbers,
    /// One of them is the result: a text where all are open.
    Chosen,
    /// They are compared: texts where all are open.
    Compared,
    /// Their bits: bytes where all are open.
    Bits,
}

impl Beside {
    /// The type beside another operand.
    fn typed(self, ty: &ExprType, binder: &Binder<'_>) -> DerivedParam {
        let collation = binder.env.collation;
        match self {
            Beside::Chosen | Beside::Compared => {
                DerivedParam::beside(ty, collation, ParamUse::Compared)
            }
            Beside::Numbers => {
                let param = DerivedParam::beside(ty, collation, ParamUse::Converted);
                // Dates in arithmetic are numbers, as whatever stands in their place is.
                match param.ty {
                    ParamType::Date | ParamType::DateTime | ParamType::Time => {
                        DerivedParam { used: ParamUse::AsGiven, ..param }
                    }
                    _ => param,
                }
            }
            Beside::Bits => match DerivedParam::beside(ty, collation, ParamUse::Converted) {
                bytes @ DerivedParam { ty: ParamType::Bytes, .. } => {
                    DerivedParam { used: ParamUse::Converted, ..bytes }
                }
                other => other,
            },
        }
    }

    /// The type where all are open, and whether it is final.
    fn alone(self, binder: &Binder<'_>) -> (DerivedParam, bool) {
        let text = DerivedParam::text(binder.env.collation);
        let converted = |ty| DerivedParam::new(ty, ParamUse::Converted);
        match self {
            Beside::Numbers => (converted(ParamType::Double), false),
            Beside::Chosen => (text, false),
            Beside::Compared => (text, true),
            Beside::Bits => (converted(ParamType::Bytes), true),
        }
    }
}

/// Gives a parameter that is stored in a column the column's type.
pub(crate) fn derive_stored(value: &Expr, column: &DataType, host: &dyn SessionHost) {
    if let ExprKind::Param(index) = value.kind
        && let Some(derivation) = host.derivation().filter(|derivation| derivation.is_on())
    {
        let ty = ExprType::computed(column.clone(), true);
        let param = DerivedParam::beside(&ty, value.ty.collation(), ParamUse::AsGiven);
        derivation.give(&ast::Expr::Param(index as u32), param, true);
    }
}

impl Binder<'_> {
    /// The types of parameters so far, where they are derived.
    pub(super) fn derivation(&self) -> Option<&Derivation> {
        self.host.derivation().filter(|derivation| derivation.is_on())
    }

    /// Gives an operand, which is not bound yet, the type that its place demands.
    pub fn demand(&self, operand: &ast::Expr, ty: ParamType, used: ParamUse) {
        if let Some(derivation) = self.derivation()
            && derivation.is_open(operand)
        {
            derivation.give(operand, DerivedParam::new(ty, used), true);
        }
    }

    /// Gives an open operand of one operator of numbers a type for the time being.
    pub(super) fn demand_number(&self, operand: &ast::Expr) {
        if let Some(derivation) = self.derivation()
            && derivation.is_open(operand)
        {
            let (double, is_final) = Beside::Numbers.alone(self);
            derivation.give(operand, double, is_final);
        }
    }

    /// As [`Binder::demand_number`], for the operands of DIV: integers.
    pub(super) fn demand_both(&self, left: &ast::Expr, right: &ast::Expr) {
        let Some(derivation) = self.derivation() else { return };
        if derivation.is_open(left) && derivation.is_open(right) {
            self.demand_int(left);
            self.demand_int(right);
        }
    }

    /// As [`Binder::demand`], for an operand whose bits count.
    pub(super) fn demand_bits(&self, operand: &ast::Expr) {
        self.demand(operand, ParamType::Bytes, ParamUse::Converted);
    }

    /// As [`Binder::demand`], for a number that strings are converted to.
    pub(super) fn demand_int(&self, operand: &ast::Expr) {
        self.demand(operand, ParamType::Int, ParamUse::Converted);
    }

    /// Gives the open ones of some operands the type of the first other one.
    pub(super) fn settle(
        &mut self,
        operands: &mut [Operand<'_>],
        beside: Beside,
    ) -> Result<(), SqlError> {
        if operands.iter().any(|(_, bound)| is_variable(bound)) {
            self.settle_unset(operands.iter_mut().map(|(_, bound)| &mut **bound), beside);
        }
        let Some(derivation) = self.derivation() else { return Ok(()) };
        let open: Vec<bool> =
            operands.iter().map(|(written, _)| derivation.is_open(written)).collect();
        if !open.contains(&true) {
            return Ok(());
        }
        let typed = operands.iter().zip(&open).find(|(_, open)| !**open);
        let (mut param, is_final) = match typed {
            Some(((_, typed), _)) => (beside.typed(&typed.ty, self), true),
            None => beside.alone(self),
        };
        // A string that is chosen among strings stays one, whatever the first operand is.
        let string = |(operand, open): (&Operand<'_>, &bool)| {
            !open && operand.1.ty.class() == TypeClass::String
        };
        if matches!(beside, Beside::Chosen) && operands.iter().zip(&open).any(string) {
            param.used = ParamUse::AsGiven;
        }
        for ((written, bound), _) in operands.iter_mut().zip(open).filter(|(_, open)| *open) {
            if let Some(derivation) = self.derivation() {
                derivation.give(written, param, is_final);
            }
            **bound = self.bind(written)?;
        }
        Ok(())
    }

    /// As [`Binder::settle`], for operands in a list.
    pub(super) fn settle_all(
        &mut self,
        written: &[ast::Expr],
        bound: &mut [Expr],
        beside: Beside,
    ) -> Result<(), SqlError> {
        if self.derivation().is_none() && !bound.iter().any(is_variable) {
            return Ok(());
        }
        let mut operands: Vec<Operand<'_>> = written.iter().zip(bound).collect();
        self.settle(&mut operands, beside)
    }

    /// As [`Binder::settle`], for operands that are compared, which may be rows.
    pub(super) fn settle_compared(
        &mut self,
        (left, bound_left): Operand<'_>,
        (right, bound_right): Operand<'_>,
    ) -> Result<(), SqlError> {
        if self.derivation().is_none() {
            return Ok(());
        }
        let (ast::Expr::Row(lefts), ast::Expr::Row(rights)) = (left, right) else {
            let mut operands = [(left, bound_left), (right, bound_right)];
            return self.settle(&mut operands, Beside::Compared);
        };
        let (ExprKind::Row(own), ExprKind::Row(other)) =
            (&mut bound_left.kind, &mut bound_right.kind)
        else {
            return Ok(());
        };
        let own = lefts.iter().zip(own);
        let other = rights.iter().zip(other);
        own.zip(other).try_for_each(|(left, right)| self.settle_compared(left, right))
    }

    /// The operand of IN or CASE beside what it is compared with.
    pub(super) fn settle_list<'l>(
        &mut self,
        (written, bound): Operand<'l>,
        list: impl Iterator<Item = &'l ast::Expr>,
        items: &'l mut [Expr],
    ) -> Result<(), SqlError> {
        if self.derivation().is_none() {
            return Ok(());
        }
        if let ast::Expr::Row(_) = written {
            let mut items = list.zip(items);
            return items.try_for_each(|item| self.settle_compared((written, bound), item));
        }
        let items = list.zip(items);
        let mut operands: Vec<Operand<'_>> =
            std::iter::once((written, bound)).chain(items).collect();
        self.settle(&mut operands, Beside::Compared)
    }

    /// Gives the arguments of a function, which are not bound yet, the types that it takes.
    pub(super) fn demand_arguments(&self, name: &str, args: &[ast::Expr]) {
        let Some(derivation) = self.derivation() else { return };
        let chooses = matches!(name, "ifnull" | "coalesce" | "nullif" | "greatest" | "least");
        if chooses || matches!(name, "field" | "mod") {
            return;
        }
        for (at, arg) in args.iter().enumerate().filter(|(_, arg)| derivation.is_open(arg)) {
            match name {
                "if" if at == 0 => self.demand_int(arg),
                "if" => {}
                "abs" | "ceil" | "ceiling" | "floor" => self.demand_number(arg),
                "bit_count" => self.demand_bits(arg),
                _ => derivation.give(arg, argument(name, at, self.env.collation), true),
            }
        }
    }

    /// Gives the open arguments of a function, which are bound, the types of the others.
    pub(super) fn settle_arguments(
        &mut self,
        name: &str,
        written: &[ast::Expr],
        bound: &mut [Expr],
    ) -> Result<(), SqlError> {
        match name {
            "if" if written.len() == 3 => {
                self.settle_all(&written[1..], &mut bound[1..], Beside::Chosen)
            }
            "ifnull" | "coalesce" | "nullif" | "greatest" | "least" => {
                self.settle_all(written, bound, Beside::Chosen)
            }
            "field" => self.settle_all(written, bound, Beside::Compared),
            "mod" => self.settle_all(written, bound, Beside::Numbers),
            _ => Ok(()),
        }
    }

    /// Gives the arguments of an aggregate, which are not bound yet, the types that it takes.
    pub(super) fn demand_aggregated(&self, call: &ast::AggregateCall) {
        use ast::AggregateFunc as F;
        let ty = match call.func {
            F::Sum | F::Avg => ParamType::Double,
            F::StddevPop | F::StddevSamp | F::VarPop | F::VarSamp => ParamType::Decimal,
            _ => ParamType::Text(self.env.collation),
        };
        let used = match ty {
            ParamType::Text(_) => ParamUse::AsGiven,
            _ => ParamUse::Converted,
        };
        call.args.iter().for_each(|arg| self.demand(arg, ty, used));
    }

    /// Gives the operand of a CAST, which is not bound yet, a type.
    pub(super) fn demand_cast(&self, operand: &ast::Expr, target: &CastType) {
        let ty = match target {
            CastType::Signed | CastType::Unsigned => ParamType::Int,
            CastType::Decimal { .. } => ParamType::Decimal,
            CastType::Float(_) | CastType::Double | CastType::Real => ParamType::Double,
            CastType::Date => ParamType::Date,
            CastType::Time(_) | CastType::DateTime(_) => ParamType::DateTime,
            CastType::Year => ParamType::Year,
            CastType::Json => ParamType::Json,
            CastType::Binary(_) => ParamType::Bytes,
            CastType::Char { .. } => ParamType::Text(self.env.collation),
            CastType::Geometry(_) => ParamType::Geometry,
        };
        let used = match target {
            CastType::Binary(_) | CastType::Char { .. } => ParamUse::AsGiven,
            CastType::Json | CastType::Geometry(_) | CastType::Year => ParamUse::AsGiven,
            _ => ParamUse::Converted,
        };
        self.demand(operand, ty, used);
    }

    /// Gives a moment and what is added to it, neither of which is bound yet, their types.
    pub(super) fn demand_interval(
        &self,
        date: &ast::Expr,
        amount: &ast::Expr,
        unit: inia_base::temporal::IntervalUnit,
    ) {
        let moment = if unit.has_time() { ParamType::DateTime } else { ParamType::Date };
        self.demand(date, moment, ParamUse::Converted);
        match unit {
            unit if unit.is_composite() => {
                let text = ParamType::Text(self.env.collation);
                self.demand(amount, text, ParamUse::AsGiven);
            }
            inia_base::temporal::IntervalUnit::Second => {
                self.demand(amount, ParamType::Decimal, ParamUse::Converted);
            }
            _ => self.demand_int(amount),
        }
    }

    /// Gives the arguments of LAG, LEAD, NTILE and NTH_VALUE behind the first their types, and
    /// binds all.
    pub(super) fn window_arguments(
        &mut self,
        call: &ast::WindowCall,
    ) -> Result<Vec<Expr>, SqlError> {
        use ast::WindowFunc as F;
        let counts = match call.func {
            F::Ntile => call.args.first(),
            F::NthValue | F::Lag | F::Lead => call.args.get(1),
            _ => None,
        };
        if let Some(count) = counts {
            self.demand(count, ParamType::Int, ParamUse::AsGiven);
        }
        if !matches!(call.func, F::NthValue)
            && let Some(ast::Expr::Column(name)) = counts
        {
            return Err(SqlError::new(ErrorCode::SpUndeclaredVar, &[&name.name]));
        }
        let mut args = self.scalars(&call.args)?;
        if let ([value, _, other], [bound_value, _, bound_other]) = (&call.args[..], &mut args[..])
        {
            let mut operands = [(value, bound_value), (other, bound_other)];
            self.settle(&mut operands, Beside::Chosen)?;
        }
        Ok(args)
    }
}
