#pragma once
/// The one door to Eigen: no other header of gflow includes it.
/// Eigen's own threads are off, because the order in which they add changes the last bits of a result; gflow cuts the
/// work into tiles itself and lets Eigen work on one tile at a time.

#ifndef EIGEN_DONT_PARALLELIZE
#define EIGEN_DONT_PARALLELIZE
#endif
#if defined(__CUDACC__) && !defined(EIGEN_NO_CUDA)
#define EIGEN_NO_CUDA
#endif

#include <gflow/config/intrinsics.hpp>

#if defined(__GNUC__)
#pragma GCC diagnostic push
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overread"
#endif
#endif
#include <Eigen/Core>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
