#pragma once

#include <cstdint>

namespace fieldcost::unwind {

// Numbers from DWARF 5 that call frame information uses (§7.7, §7.24), and two of GNU's.

enum ExpressionOperation : std::uint8_t {
  kOpDeref = 0x06,
  kOpConst1u = 0x08,
  kOpConst1s = 0x09,
  kOpConst2u = 0x0a,
  kOpConst2s = 0x0b,
  kOpConst4u = 0x0c,
  kOpConst4s = 0x0d,
  kOpConst8u = 0x0e,
  kOpConst8s = 0x0f,
  kOpConstu = 0x10,
  kOpConsts = 0x11,
  kOpDup = 0x12,
  kOpDrop = 0x13,
  kOpOver = 0x14,
  kOpPick = 0x15,
  kOpAnd = 0x1a,
  kOpMinus = 0x1c,
  kOpMul = 0x1e,
  kOpNeg = 0x1f,
  kOpNot = 0x20,
  kOpOr = 0x21,
  kOpPlus = 0x22,
  kOpPlusUconst = 0x23,
  kOpShl = 0x24,
  kOpShr = 0x25,
  kOpShra = 0x26,
  kOpXor = 0x27,
  kOpEq = 0x29,
  kOpGe = 0x2a,
  kOpGt = 0x2b,
  kOpLe = 0x2c,
  kOpLt = 0x2d,
  kOpNe = 0x2e,
  kOpLit0 = 0x30,
  kOpLit31 = 0x4f,
  kOpBreg0 = 0x70,
  kOpBreg31 = 0x8f,
  kOpBregx = 0x92,
  kOpNop = 0x96,
};

enum FrameInstruction : std::uint8_t {
  // In the upper two bits; the lower six hold an operand.
  kCfaAdvanceLoc = 0x40,
  kCfaOffset = 0x80,
  kCfaRestore = 0xc0,

  kCfaNop = 0x00,
  kCfaSetLoc = 0x01,
  kCfaAdvanceLoc1 = 0x02,
  kCfaAdvanceLoc2 = 0x03,
  kCfaAdvanceLoc4 = 0x04,
  kCfaOffsetExtended = 0x05,
  kCfaRestoreExtended = 0x06,
  kCfaUndefined = 0x07,
  kCfaSameValue = 0x08,
  kCfaRegister = 0x09,
  kCfaRememberState = 0x0a,
  kCfaRestoreState = 0x0b,
  kCfaDefCfa = 0x0c,
  kCfaDefCfaRegister = 0x0d,
  kCfaDefCfaOffset = 0x0e,
  kCfaDefCfaExpression = 0x0f,
  kCfaExpression = 0x10,
  kCfaOffsetExtendedSf = 0x11,
  kCfaDefCfaSf = 0x12,
  kCfaDefCfaOffsetSf = 0x13,
  kCfaValOffset = 0x14,
  kCfaValOffsetSf = 0x15,
  kCfaValExpression = 0x16,
  kCfaGnuArgsSize = 0x2e,
  kCfaGnuNegativeOffsetExtended = 0x2f,
};

}  // namespace fieldcost::unwind
