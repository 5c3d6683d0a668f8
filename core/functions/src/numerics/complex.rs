//! Arithmetic and elementary functions of complex numbers.

use crate::numerics::real::Real;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Complex {
    pub(crate) real: f64,
    pub(crate) imaginary: f64,
}

pub(crate) const ONE: Complex = Complex { real: 1.0, imaginary: 0.0 };

impl Complex {
    pub(crate) fn new(real: f64, imaginary: f64) -> Self {
        Self { real, imaginary }
    }

    pub(crate) fn polar(radius: f64, angle: f64) -> Self {
        Self::new(radius * angle.cosine(), radius * angle.sine())
    }

    pub(crate) fn abs(self) -> f64 {
        self.real.hypotenuse(self.imaginary)
    }

    pub(crate) fn angle(self) -> f64 {
        self.imaginary.arc_tangent_of_ratio(self.real)
    }

    pub(crate) fn add(self, other: Self) -> Self {
        Self::new(self.real + other.real, self.imaginary + other.imaginary)
    }

    pub(crate) fn subtract(self, other: Self) -> Self {
        Self::new(self.real - other.real, self.imaginary - other.imaginary)
    }

    pub(crate) fn multiply(self, other: Self) -> Self {
        Self::new(
            self.real * other.real - self.imaginary * other.imaginary,
            self.real * other.imaginary + self.imaginary * other.real,
        )
    }

    pub(crate) fn divide(self, other: Self) -> Self {
        let norm = other.real * other.real + other.imaginary * other.imaginary;
        Self::new(
            (self.real * other.real + self.imaginary * other.imaginary) / norm,
            (self.imaginary * other.real - self.real * other.imaginary) / norm,
        )
    }

    pub(crate) fn exponential(self) -> Self {
        Self::polar(self.real.exponential(), self.imaginary)
    }

    pub(crate) fn natural_logarithm(self) -> Self {
        Self::new(self.abs().natural_logarithm(), self.angle())
    }

    pub(crate) fn sqrt(self) -> Self {
        Self::polar(self.abs().sqrt(), self.angle() / 2.0)
    }

    pub(crate) fn sine(self) -> Self {
        let (x, y) = (self.real, self.imaginary);
        Self::new(x.sine() * y.hyperbolic_cosine(), x.cosine() * y.hyperbolic_sine())
    }

    pub(crate) fn cosine(self) -> Self {
        let (x, y) = (self.real, self.imaginary);
        Self::new(x.cosine() * y.hyperbolic_cosine(), -(x.sine() * y.hyperbolic_sine()))
    }

    pub(crate) fn hyperbolic_sine(self) -> Self {
        let (x, y) = (self.real, self.imaginary);
        Self::new(x.hyperbolic_sine() * y.cosine(), x.hyperbolic_cosine() * y.sine())
    }

    pub(crate) fn hyperbolic_cosine(self) -> Self {
        let (x, y) = (self.real, self.imaginary);
        Self::new(x.hyperbolic_cosine() * y.cosine(), x.hyperbolic_sine() * y.sine())
    }
}
