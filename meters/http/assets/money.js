/* Amounts of money as text. Money is whole cents. */

export const money = (cents) => {
  const sign = cents < 0 ? "−" : "";
  const digits = String(Math.abs(cents)).padStart(3, "0");
  const dollars = digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, ",");
  return `${sign}$${dollars}.${digits.slice(-2)}`;
};
