//! Visiting what is directly inside an expression.

use super::{
    Expr, FrameBound, FrameOffset, JoinConstraint, JsonValue, OrderItem, Over, Query, QueryBody,
    Select, SelectItem, TableRef, WindowSpec,
};

/// The visits of what is directly inside expressions and windows, for references of either kind:
/// `mut` is given for those that change what they visit.
macro_rules! visits {
    ($child:ident, $operand:ident, $window:ident, $order:ident $(, $mut:tt)?) => {
        impl Expr {
            /// Calls `visit` with each expression directly inside this one, in the order of the
            /// text. Queries and windows that are given by name are not entered.
            pub fn $child<'e>(&'e $($mut)? self, visit: &mut dyn FnMut(&'e $($mut)? Expr)) {
                match self {
                    Expr::Unary { expr, .. }
                    | Expr::AssignVar { value: expr, .. }
                    | Expr::IsNull { expr, .. }
                    | Expr::IsTruth { expr, .. }
                    | Expr::InSubquery { expr, .. }
                    | Expr::Quantified { left: expr, .. }
                    | Expr::Cast { expr, .. }
                    | Expr::CastAtTimeZone { expr, .. }
                    | Expr::ConvertUsing { expr, .. }
                    | Expr::Extract { expr, .. }
                    | Expr::WeightString { expr, .. }
                    | Expr::Match { against: expr, .. }
                    | Expr::Collate { expr, .. } => visit(expr),
                    Expr::Binary { left, right, .. }
                    | Expr::SoundsLike { left, right }
                    | Expr::Regexp { expr: left, pattern: right, .. }
                    | Expr::MemberOf { expr: left, array: right }
                    | Expr::DateArith { expr: left, interval: right, .. }
                    | Expr::TimestampDiff { from: left, to: right, .. } => {
                        visit(left);
                        visit(right);
                    }
                    Expr::And(list)
                    | Expr::Or(list)
                    | Expr::Row(list)
                    | Expr::Char { args: list, .. } => list.into_iter().for_each(visit),
                    Expr::Function(call) => (&$($mut)? call.args).into_iter().for_each(visit),
                    Expr::Aggregate(call) => {
                        (&$($mut)? call.args).into_iter().for_each(&mut *visit);
                        $order(&$($mut)? call.order_by, visit);
                        if let Some(Over::Spec(spec)) = &$($mut)? call.over {
                            spec.$window(visit);
                        }
                    }
                    Expr::Window(call) => {
                        (&$($mut)? call.args).into_iter().for_each(&mut *visit);
                        if let Over::Spec(spec) = &$($mut)? call.over {
                            spec.$window(visit);
                        }
                    }
                    other => other.$operand(visit),
                }
            }

            fn $operand<'e>(&'e $($mut)? self, visit: &mut dyn FnMut(&'e $($mut)? Expr)) {
                match self {
                    Expr::InList { expr, list, .. } => {
                        visit(expr);
                        list.into_iter().for_each(visit);
                    }
                    Expr::Between { expr, low, high, .. } => {
                        [expr, low, high].into_iter().for_each(|operand| visit(operand));
                    }
                    Expr::Like { expr, pattern, escape, .. } => {
                        visit(expr);
                        visit(pattern);
                        escape.into_iter().for_each(|escape| visit(escape));
                    }
                    Expr::Case { operand, whens, else_ } => {
                        operand.into_iter().for_each(|operand| visit(operand));
                        for (when, then) in whens {
                            visit(when);
                            visit(then);
                        }
                        else_.into_iter().for_each(|otherwise| visit(otherwise));
                    }
                    Expr::Trim { what, expr, .. } => {
                        what.into_iter().for_each(|what| visit(what));
                        visit(expr);
                    }
                    Expr::JsonValue(value) => {
                        let JsonValue { doc, path, .. } = &$($mut)? **value;
                        visit(doc);
                        visit(path);
                    }
                    _ => {}
                }
            }
        }

        impl WindowSpec {
            /// Calls `visit` with each expression of the window.
            pub fn $window<'e>(&'e $($mut)? self, visit: &mut dyn FnMut(&'e $($mut)? Expr)) {
                let WindowSpec { partition_by, order_by, frame, .. } = self;
                partition_by.into_iter().for_each(&mut *visit);
                $order(order_by, visit);
                let Some(frame) = frame else { return };
                for bound in [&$($mut)? frame.start, &$($mut)? frame.end] {
                    if let FrameBound::Preceding(offset) | FrameBound::Following(offset) = bound {
                        let (FrameOffset::Expr(expr) | FrameOffset::Interval(expr, _)) = offset;
                        visit(expr);
                    }
                }
            }
        }

        fn $order<'e>(
            items: &'e $($mut)? [OrderItem],
            visit: &mut dyn FnMut(&'e $($mut)? Expr),
        ) {
            items.into_iter().for_each(|item| visit(&$($mut)? item.expr));
        }
    };
}

visits!(for_each_child, for_each_operand, for_each_expr, order_items);
visits!(for_each_child_mut, for_each_operand_mut, for_each_expr_mut, order_items_mut, mut);

impl Query {
    /// Calls `visit` with each expression that stands directly in the query or in one of its
    /// operands, common table expressions and derived tables.
    pub fn for_each_expr_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        for cte in self.with.iter_mut().flat_map(|with| &mut with.ctes) {
            cte.query.for_each_expr_mut(visit);
        }
        body_exprs(&mut self.body, visit);
        order_items_mut(&mut self.order_by, visit);
    }
}

fn body_exprs(body: &mut QueryBody, visit: &mut dyn FnMut(&mut Expr)) {
    match body {
        QueryBody::Select(select) => select_exprs(select, visit),
        QueryBody::Values(rows) => rows.iter_mut().flatten().for_each(visit),
        QueryBody::Table(_) => {}
        QueryBody::Nested(query) => query.for_each_expr_mut(visit),
        QueryBody::SetOperation { first, rest } => {
            body_exprs(first, visit);
            rest.iter_mut().for_each(|term| body_exprs(&mut term.body, visit));
        }
    }
}

fn select_exprs(select: &mut Select, visit: &mut dyn FnMut(&mut Expr)) {
    for item in &mut select.items {
        if let SelectItem::Expr { expr, .. } = item {
            visit(expr);
        }
    }
    select.from.iter_mut().for_each(|table| table_exprs(table, visit));
    select.where_.iter_mut().for_each(&mut *visit);
    select.group_by.iter_mut().for_each(&mut *visit);
    select.having.iter_mut().for_each(&mut *visit);
    select.windows.iter_mut().for_each(|(_, window)| window.for_each_expr_mut(visit));
}

fn table_exprs(table: &mut TableRef, visit: &mut dyn FnMut(&mut Expr)) {
    match table {
        TableRef::Table(_) => {}
        TableRef::Derived(derived) => derived.query.for_each_expr_mut(visit),
        TableRef::List(list) => list.iter_mut().for_each(|table| table_exprs(table, visit)),
        TableRef::JsonTable(table) => visit(&mut table.doc),
        TableRef::Join(join) => {
            table_exprs(&mut join.left, visit);
            table_exprs(&mut join.right, visit);
            if let JoinConstraint::On(on) = &mut join.constraint {
                visit(on);
            }
        }
    }
}

impl Expr {
    /// Calls `visit` with this expression and all in it, queries included, from the outside in.
    pub fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        visit(self);
        match self {
            Expr::Exists(query)
            | Expr::Subquery(query)
            | Expr::InSubquery { query, .. }
            | Expr::Quantified { query, .. } => {
                query.for_each_expr_mut(&mut |expr| expr.walk_mut(visit));
            }
            _ => {}
        }
        self.for_each_child_mut(&mut |child| child.walk_mut(visit));
    }
}
