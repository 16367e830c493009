#pragma once
/// The whole of gflow that needs nothing but Eigen: tensors, autograd, ops, layers, both language models, the encoder
/// of BERT, the optimiser. Files (io, needs nlohmann-json), text (needs utf8proc, SentencePiece) and training have
/// headers of their own.

#include <gflow/autograd/checkpoint.hpp>
#include <gflow/autograd/gradcheck.hpp>
#include <gflow/core/eigen_view.hpp>
#include <gflow/core/print.hpp>
#include <gflow/fwd.hpp>
#include <gflow/models/bert_weights.hpp>
#include <gflow/models/grassmann_lm.hpp>
#include <gflow/models/transformer_lm.hpp>
#include <gflow/ops/argmax.hpp>
#include <gflow/ops/attention_reference.hpp>
#include <gflow/ops/clamp.hpp>
#include <gflow/ops/clone.hpp>
#include <gflow/ops/linear_cross_entropy.hpp>
#include <gflow/ops/matmul.hpp>
#include <gflow/ops/mse_loss.hpp>
#include <gflow/ops/plucker_mix_reference.hpp>
#include <gflow/ops/to.hpp>
#include <gflow/ops/transpose.hpp>
#include <gflow/optim/adamw.hpp>
#include <gflow/optim/clip.hpp>
#include <gflow/optim/parameter_groups.hpp>
#include <gflow/optim/schedule.hpp>
#include <gflow/version.hpp>
