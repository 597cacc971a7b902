// What Dayhoff's model of protein evolution (Dayhoff, Schwartz and Orcutt 1978) makes of observed differences.
#pragma once
#include <cstdint>

namespace tropalign {

/// The shares of differing residues from which and up to which the table goes, in steps of 0.001.
inline constexpr double kDayhoffFrom = 0.75, kDayhoffTo = 0.93;
/// Accepted point mutations per 100 residues; the numbers are those that CLUSTAL W publishes.
inline constexpr int16_t kDayhoffPams[] = {
    195, 196, 197, 198, 199, 200, 200, 201, 202, 203, 204, 205, 206, 207, 208, 209, 209, 210, 211, 212, 213, 214, 215,
    216, 217, 218, 219, 220, 221, 222, 223, 224, 226, 227, 228, 229, 230, 231, 232, 233, 234, 236, 237, 238, 239, 240,
    241, 243, 244, 245, 246, 248, 249, 250, 252, 253, 254, 255, 257, 258, 260, 261, 262, 264, 265, 267, 268, 270, 271,
    273, 274, 276, 277, 279, 281, 282, 284, 285, 287, 289, 291, 292, 294, 296, 298, 299, 301, 303, 305, 307, 309, 311,
    313, 315, 317, 319, 321, 323, 325, 328, 330, 332, 335, 337, 339, 342, 344, 347, 349, 352, 354, 357, 360, 362, 365,
    368, 371, 374, 377, 380, 383, 386, 389, 393, 396, 399, 403, 407, 410, 414, 418, 422, 426, 430, 434, 438, 442, 447,
    451, 456, 461, 466, 471, 476, 482, 487, 493, 498, 504, 511, 517, 524, 531, 538, 545, 553, 560, 569, 577, 586, 595,
    605, 615, 626, 637, 649, 661, 675, 688, 703, 719, 736, 754, 775, 796, 819, 845, 874, 907, 945, 988};

}  // namespace tropalign
