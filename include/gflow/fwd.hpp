#pragma once
/// Names without their definitions, for headers that only pass gflow's types on.

#include <cstdint>

namespace gflow {

using Index = std::int64_t;
enum class DType : std::uint8_t;
class Shape;
class Device;
class Tensor;
class Node;
class Saved;
class Gradients;
class Generator;
class LanguageModel;
class TransformerLM;
class GrassmannLM;
class Decoder;
class BertEncoder;
class PackedBatch;
class AdamW;

namespace nn {
class Module;
class Linear;
class Embedding;
class LayerNorm;
class Dropout;
class FeedForward;
class CausalSelfAttention;
class SelfAttention;
class GrassmannMixing;
}  // namespace nn

}  // namespace gflow
