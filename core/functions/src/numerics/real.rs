//! Elementary functions with bit-identical results on every machine. The standard library calls the
//! math library of the operating system, whose results differ between systems and which may be
//! missing in AWS Lambda.

/// Elementary functions of a number. Angles are in radians.
pub(crate) trait Real {
    fn arc_cosine(self) -> f64;
    fn arc_sine(self) -> f64;
    fn arc_tangent(self) -> f64;
    fn arc_tangent_of_ratio(self, other: f64) -> f64;
    fn area_cosine(self) -> f64;
    fn area_sine(self) -> f64;
    fn area_tangent(self) -> f64;
    fn binary_logarithm(self) -> f64;
    fn cosine(self) -> f64;
    fn decimal_logarithm(self) -> f64;
    fn exponential(self) -> f64;
    fn exponential_minus_1(self) -> f64;
    fn hyperbolic_cosine(self) -> f64;
    fn hyperbolic_sine(self) -> f64;
    fn hyperbolic_tangent(self) -> f64;
    fn hypotenuse(self, other: f64) -> f64;
    fn natural_logarithm(self) -> f64;
    fn natural_logarithm_plus_1(self) -> f64;
    fn power(self, other: f64) -> f64;
    fn sine(self) -> f64;
    fn tangent(self) -> f64;
}

impl Real for f64 {
    fn arc_cosine(self) -> f64 {
        libm::acos(self)
    }

    fn arc_sine(self) -> f64 {
        libm::asin(self)
    }

    fn arc_tangent(self) -> f64 {
        libm::atan(self)
    }

    fn arc_tangent_of_ratio(self, other: f64) -> f64 {
        libm::atan2(self, other)
    }

    fn area_cosine(self) -> f64 {
        libm::acosh(self)
    }

    fn area_sine(self) -> f64 {
        libm::asinh(self)
    }

    fn area_tangent(self) -> f64 {
        libm::atanh(self)
    }

    fn binary_logarithm(self) -> f64 {
        libm::log2(self)
    }

    fn cosine(self) -> f64 {
        libm::cos(self)
    }

    fn decimal_logarithm(self) -> f64 {
        libm::log10(self)
    }

    fn exponential(self) -> f64 {
        libm::exp(self)
    }

    fn exponential_minus_1(self) -> f64 {
        libm::expm1(self)
    }

    fn hyperbolic_cosine(self) -> f64 {
        libm::cosh(self)
    }

    fn hyperbolic_sine(self) -> f64 {
        libm::sinh(self)
    }

    fn hyperbolic_tangent(self) -> f64 {
        libm::tanh(self)
    }

    fn hypotenuse(self, other: f64) -> f64 {
        libm::hypot(self, other)
    }

    fn natural_logarithm(self) -> f64 {
        libm::log(self)
    }

    fn natural_logarithm_plus_1(self) -> f64 {
        libm::log1p(self)
    }

    fn power(self, other: f64) -> f64 {
        libm::pow(self, other)
    }

    fn sine(self) -> f64 {
        libm::sin(self)
    }

    fn tangent(self) -> f64 {
        libm::tan(self)
    }
}
