/** Objectives a batch can serve (spec 2.4): id and meaning. */
export const targetObjectives = {
  1: 'App Installs / Downloads',
  2: 'Audience Building (Email/Community)',
  3: 'Brand Awareness & Recall',
  4: 'Customer Acquisition / Sales',
  5: 'Free Trial or Freemium Signups',
  6: 'Lead Generation (Top/Mid-Funnel)',
  7: 'Loyalty & Referral Program Growth',
  8: 'Market & Customer Research',
  9: 'New Market Entry',
  10: 'Partner & Affiliate Recruitment',
  11: 'Product Engagement & Feature Adoption',
  12: 'Sales-Ready Leads (Bottom-Funnel)',
  13: 'Upsell / Cross-sell Revenue',
  14: 'User Retention & Churn Reduction',
  15: 'Waitlist / Pre-order Signups',
  16: 'Website / App Traffic Acquisition',
} as const;

export type TargetObjective = keyof typeof targetObjectives;
