/** Audiences a batch can be aimed at (spec 2.4): id and meaning. */
export const targetAudiences = {
  1: 'Agency / Consultants',
  2: 'Creators & Influencers',
  3: 'Customer Support & Success',
  4: 'Developers & Technical Leads',
  5: 'E-commerce & Retail Managers',
  6: 'Enterprise Decision-Makers',
  7: 'Finance & Operations Professionals',
  8: 'Founders & C-Level Executives',
  9: 'Freelancers & Solopreneurs',
  10: 'Government & Public Sector Employees',
  11: 'HR & Talent Acquisition',
  12: 'Healthcare Professionals',
  13: 'Hobbyists & Enthusiasts',
  14: 'Investors & VCs',
  15: 'Job Seekers',
  16: 'Legal Professionals',
  17: 'Marketing & Sales Professionals',
  18: 'Non-Profit Leaders & Staff',
  19: 'Parents & Families',
  20: 'Product & Project Managers',
  21: 'Real Estate Professionals',
  22: 'Small-to-Medium Business (SMB) Owners',
  23: 'Students & Educators',
} as const;

export type TargetAudience = keyof typeof targetAudiences;
